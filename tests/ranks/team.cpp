// SPDX-License-Identifier: MIT
#include "ranks/team.h"

#include <cmath>
#include <exception>

namespace flightdeck::tests {

Member::Member()
    : net(torch::nn::Linear(6, 5),
          torch::nn::Tanh(),
          torch::nn::Linear(5, 4),
          torch::nn::ReLU(),
          torch::nn::Linear(4, 3)) {
  net->to(at::kDouble);
  optimizer = std::make_unique<torch::optim::SGD>(net->parameters(), 0.1);
}

void Member::make_cockpit(std::vector<Quantity> quantities, CockpitOptions options) {
  options.ranks = ranks;
  options.on_warning = [this](const std::string& text) { warnings.push_back(text); };
  cockpit = std::make_unique<Cockpit>(parameters(), std::move(quantities), options);
  cockpit->add_sink(memory);
}

void Member::step(int64_t number, const Shard& shard, const std::function<void()>& before_end) {
  namespace F = torch::nn::functional;
  optimizer->zero_grad();
  const Tensor losses = F::cross_entropy(net->forward(shard.inputs),
                                         shard.labels,
                                         F::CrossEntropyFuncOptions().reduction(torch::kNone));
  StepOptions options;
  options.optimizer = optimizer.get();
  options.labels = shard.labels;
  options.sample_ids = shard.ids;
  {
    const StepWatch watch = cockpit->watch(number, losses, options);
    if (before_end) before_end();
    losses.mean().backward();
  }
  average_and_update(losses.size(0));
}

void Member::sit_out(int64_t number) {
  optimizer->zero_grad();
  cockpit->sit_out(number);
  average_and_update(0);
}

void Member::average_and_update(int64_t samples) {
  if (ranks) {
    const double all = ranks->sum(torch::full({1}, double(samples), at::kDouble)).item<double>();
    for (Tensor& parameter : net->parameters()) {
      const Tensor own =
          samples > 0 ? parameter.grad() * double(samples) : torch::zeros_like(parameter);
      parameter.mutable_grad() = (ranks->sum(own.detach()) / all).detach();
    }
  }
  optimizer->step();
}

Team::Team(int64_t W, std::chrono::milliseconds timeout) {
  const auto ranks = ranks_in_threads(W, timeout);
  const torch::NoGradGuard no_grad;
  for (int64_t rank = 0; rank < W; ++rank) {
    members.push_back(std::make_unique<Member>());
    members[rank]->ranks = std::make_shared<CountedRanks>(ranks[rank]);
    const auto theirs = members[rank]->net->parameters(), ours = alone.net->parameters();
    for (size_t p = 0; p < ours.size(); ++p) theirs[p].copy_(ours[p]);
  }
}

void Team::run(const std::function<void(int64_t rank, Member& member)>& body) {
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> failures(members.size());
  for (size_t rank = 0; rank < members.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(static_cast<int64_t>(rank), *members[rank]);
      } catch (...) {
        failures[rank] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

std::vector<Shard> make_batches(int64_t count, int64_t samples) {
  std::vector<Shard> batches;
  for (int64_t k = 0; k < count; ++k) {
    batches.push_back({random({samples, 6}),
                       random_integers({samples}, 3),
                       torch::arange(k * samples, (k + 1) * samples, at::kLong)});
  }
  return batches;
}

Shard shard_of(const Shard& batch, const std::vector<int64_t>& sizes, int64_t rank) {
  int64_t begin = 0;
  for (int64_t before = 0; before < rank; ++before) begin += sizes[before];
  return batch.part(begin, begin + sizes[rank]);
}

namespace {

bool is_near(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= tolerance * std::max({1e-3, std::abs(a), std::abs(b)});
}

}  // namespace

std::string difference(const Reading& expected, const Reading* actual, double tolerance) {
  const std::string name = expected.quantity + "/" + expected.field + "@" + expected.group;
  if (actual == nullptr) return name + " is not there";
  const auto both = [&](double a, double b) {
    return name + ": " + std::to_string(b) + " where " + std::to_string(a) + " is expected";
  };
  if (expected.kind == ReadingKind::kNumber &&
      !is_near(expected.number, actual->number, tolerance)) {
    return both(expected.number, actual->number);
  }
  if (expected.list.size() != actual->list.size()) {
    return both(double(expected.list.size()), double(actual->list.size())) + " (entries)";
  }
  for (size_t k = 0; k < expected.list.size(); ++k) {
    if (!is_near(expected.list[k], actual->list[k], tolerance)) {
      return both(expected.list[k], actual->list[k]);
    }
  }
  return expected.counts == actual->counts ? "" : name + ": other counts";
}

}  // namespace flightdeck::tests
