// SPDX-License-Identifier: MIT
#include "cli/bench/ranks.h"

#include <exception>
#include <memory>
#include <thread>
#include <utility>

#include <ATen/ATen.h>

#include "cli/bench/workload.h"
#include "flightdeck/cockpit.h"
#include "flightdeck/ranks.h"

namespace flightdeck::cli {
namespace {

class CountedRanks final : public Ranks {
 public:
  explicit CountedRanks(std::shared_ptr<Ranks> ranks) : ranks_(std::move(ranks)) {}
  int64_t size() const override { return ranks_->size(); }
  int64_t rank() const override { return ranks_->rank(); }
  Tensor sum(const Tensor& own) override { return ranks_->sum(counted(own)); }
  Tensor max(const Tensor& own) override { return ranks_->max(counted(own)); }
  Tensor min(const Tensor& own) override { return ranks_->min(counted(own)); }
  Tensor gather(const Tensor& own) override { return ranks_->gather(counted(own)); }

  int64_t collectives = 0, bytes = 0;

 private:
  const Tensor& counted(const Tensor& own) {
    ++collectives;
    bytes += static_cast<int64_t>(own.nbytes());
    return own;
  }

  std::shared_ptr<Ranks> ranks_;
};

void take_step(Workload& workload, Cockpit& cockpit, int64_t step) {
  constexpr double kRate = 1e-3;
  workload.drop_gradients();
  const Tensor losses = workload.losses();
  StepOptions told;
  told.learning_rate = kRate;
  {
    const StepWatch watch = cockpit.watch(step, losses, told);
    losses.mean().backward();
  }
  const at::NoGradGuard no_grad;
  for (const NamedParameter& parameter : workload.parameters()) {
    Tensor values = parameter.tensor;
    if (values.grad().defined()) values.sub_(values.grad(), kRate);
  }
}

// Counts the second interval, because the first has no step before it.
RankTraffic count_on_rank(Workload& workload,
                          std::shared_ptr<Ranks> ranks,
                          std::vector<Quantity> quantities,
                          int64_t interval) {
  const auto counted = std::make_shared<CountedRanks>(std::move(ranks));
  CockpitOptions options;
  options.ranks = counted;
  options.strict = true;
  Cockpit cockpit(workload.parameters(), std::move(quantities), options);
  for (int64_t step = 0; step < interval; ++step) take_step(workload, cockpit, step);
  counted->collectives = counted->bytes = 0;
  RankTraffic traffic;
  for (int64_t step = interval; step < 2 * interval; ++step) {
    take_step(workload, cockpit, step);
    if (step > interval) continue;
    traffic.due_collectives = static_cast<double>(counted->collectives);
    traffic.due_bytes = static_cast<double>(counted->bytes);
  }
  traffic.collectives = static_cast<double>(counted->collectives) / double(interval);
  traffic.bytes = static_cast<double>(counted->bytes) / double(interval);
  return traffic;
}

}  // namespace

RankTraffic count_traffic(const suite::Problem& problem,
                          const RanksOptions& options,
                          const std::function<std::vector<Quantity>()>& make_quantities) {
  const auto ranks = ranks_in_threads(options.ranks);
  const auto W = static_cast<size_t>(options.ranks);
  std::vector<std::unique_ptr<Workload>> workloads;
  for (size_t k = 0; k < W; ++k) {
    workloads.push_back(std::make_unique<Workload>(problem, options.batch_size, at::kCPU));
  }
  std::vector<RankTraffic> traffic(W);
  std::vector<std::exception_ptr> failures(W);
  std::vector<std::thread> threads;
  for (size_t k = 0; k < W; ++k) {
    threads.emplace_back([&, k] {
      try {
        traffic[k] = count_on_rank(*workloads[k], ranks[k], make_quantities(), options.interval);
      } catch (...) {
        failures[k] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return traffic[0];
}

}  // namespace flightdeck::cli
