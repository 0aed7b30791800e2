// SPDX-License-Identifier: MIT
#include "ranks/team.h"

#include <cmath>
#include <exception>
#include <utility>

namespace flightdeck::tests {
namespace {

constexpr int64_t kTokens = 3, kWidth = 4, kExperts = 3, kChosen = 2;

// Inputs [N, 6] become tokens that look at one another and go to some of the experts, [N, 12].
class RoutedImpl : public torch::nn::Module {
 public:
  RoutedImpl()
      : in(register_module("in", torch::nn::Linear(6, kTokens * kWidth))),
        qkv(register_module("qkv", torch::nn::Linear(kWidth, 3 * kWidth))),
        router(register_module("router", torch::nn::Linear(kWidth, kExperts))),
        experts(register_parameter("experts", torch::randn({kExperts, kWidth}))) {}

  Tensor forward(const Tensor& inputs) {
    const Tensor tokens = in->forward(inputs).view({-1, kTokens, kWidth});
    const std::vector<Tensor> parts = qkv->forward(tokens).chunk(3, -1);
    const Tensor weights = (parts[0].matmul(parts[1].transpose(1, 2)) / 2).softmax(-1);
    const Tensor seen = weights.matmul(parts[2]);
    const auto [share, chosen] = router->forward(seen).softmax(-1).topk(kChosen, -1);
    const Tensor of_experts =
        experts.index_select(0, chosen.flatten()).view({-1, kTokens, kChosen, kWidth});
    const Tensor dealt = (seen.unsqueeze(2) * of_experts * share.unsqueeze(-1)).sum(2);
    return dealt.reshape({-1, kTokens * kWidth});
  }

 private:
  torch::nn::Linear in, qkv, router;
  Tensor experts;
};
TORCH_MODULE(Routed);

torch::nn::Sequential make_net(NetKind kind) {
  namespace nn = torch::nn;
  if (kind == NetKind::kRouted) {
    return nn::Sequential(Routed(), nn::Tanh(), nn::Linear(kTokens * kWidth, 3));
  }
  return nn::Sequential(
      nn::Linear(6, 5), nn::Tanh(), nn::Linear(5, 4), nn::ReLU(), nn::Linear(4, 3));
}

}  // namespace

Member::Member(NetKind kind) : net(make_net(kind)) {
  net->to(test_device(), at::kDouble);
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
    const bool is_bad = std::exchange(gives_bad_losses, false);
    const StepWatch watch = cockpit->watch(number, is_bad ? losses.unsqueeze(0) : losses, options);
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
  if (!is_updated) return;
  if (ranks) {
    const double all = ranks->sum(torch::full({1}, double(samples), at::kDouble)).item<double>();
    for (Tensor& parameter : net->parameters()) {
      const Tensor own =
          samples > 0 ? parameter.grad() * double(samples) : torch::zeros_like(parameter);
      const Tensor mean = ranks->sum(own.detach().cpu()) / all;
      parameter.mutable_grad() = mean.to(parameter.device());
    }
  }
  optimizer->step();
}

Team::Team(int64_t W, std::chrono::milliseconds timeout, NetKind kind) : alone(kind) {
  const auto ranks = ranks_in_threads(W, timeout);
  const torch::NoGradGuard no_grad;
  for (int64_t rank = 0; rank < W; ++rank) {
    members.push_back(std::make_unique<Member>(kind));
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

std::set<std::string> names_where(const std::function<bool(const Quantity&)>& is_one) {
  std::set<std::string> names;
  for (const Quantity& quantity : all_quantities()) {
    if (is_one(quantity)) names.insert(quantity.name());
  }
  return names;
}

bool measures_process(const Quantity& quantity) { return quantity.measures_process(); }

bool is_of_first_rank(const Quantity& quantity) { return quantity.needs().vivit.has_value(); }

Quantity fragile(int64_t at_step, const std::shared_ptr<bool>& fails) {
  return Quantity("fragile").needs(Need::kNorms).compute([=](const StepView& step) -> Value {
    TORCH_CHECK(!*fails || step.step() != at_step, "it broke");
    return step.squared_norms().sum();
  });
}

Quantity fragile_sharing(int64_t at_step, const std::shared_ptr<bool>& fails) {
  return Quantity("fragile_sharing").make([=] {
    Quantity::Functions functions;
    functions.share = [=](const StepView& step) -> std::vector<Tensor> {
      TORCH_CHECK(!*fails || step.step() != at_step, "it broke");
      return {step.losses()};
    };
    functions.compute = [](const StepView& step) -> Value { return step.shared()[0].mean(); };
    return functions;
  });
}

bool has_note(const MemorySink& memory, const std::string& words) {
  for (const Note& note : memory.notes()) {
    if (note.text.find(words) != std::string::npos) return true;
  }
  return false;
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
