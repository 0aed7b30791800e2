// SPDX-License-Identifier: MIT
#include "cli/bench/turns.h"

#include <vector>

#include <torch/cuda.h>

#include "base/clock.h"
#include "base/order_statistics.h"
#include "cli/machine/peak_memory.h"

namespace flightdeck::cli {
namespace {

double plain_ms(Workload& workload) {
  workload.drop_gradients();
  return milliseconds(workload.device(), [&] { workload.plain_step(); });
}

void prepare(Workload& workload, const Candidate& candidate) {
  if (candidate.prepare) candidate.prepare();
  workload.drop_gradients();
}

double candidate_ms(Workload& workload, const Candidate& candidate) {
  prepare(workload, candidate);
  std::any answers;  // freed after the clock has stopped, as `.grad` is
  return milliseconds(workload.device(), [&] { answers = candidate.step(); });
}

// Returns what both return. The second goes first in every other round, so that neither always
// finds the other's caches.
std::pair<double, double> in_turn(int64_t round,
                                  const std::function<double()>& plain,
                                  const std::function<double()>& candidate) {
  double first = 0;
  if (round % 2 == 0) first = plain();
  const double second = candidate();
  if (round % 2 != 0) first = plain();
  return {first, second};
}

std::optional<double> extra_peak_mb(Workload& workload, const Candidate& candidate) {
  workload.drop_gradients();
  const auto plain_peak = peak_bytes(workload.device(), [&] { workload.plain_step(); });
  prepare(workload, candidate);
  const auto peak = peak_bytes(workload.device(), [&] { candidate.step(); });
  workload.drop_gradients();
  if (!plain_peak || !peak) return std::nullopt;
  return static_cast<double>(*peak - *plain_peak) / 1e6;
}

}  // namespace

double milliseconds(const at::Device& device, const std::function<void()>& work) {
  const auto wait = [&] {
    if (device.is_cuda()) torch::cuda::synchronize(device.index());
  };
  wait();
  const Clock::time_point start = Clock::now();
  work();
  wait();
  return 1e3 * seconds_since(start);
}

std::pair<double, double> milliseconds_in_turn(const at::Device& device,
                                               int64_t round,
                                               const std::function<void()>& plain,
                                               const std::function<void()>& candidate) {
  return in_turn(
      round,
      [&] { return milliseconds(device, plain); },
      [&] { return milliseconds(device, candidate); });
}

void Timings::add(double plain_ms, double ms) {
  plain_.push_back(plain_ms);
  candidate_.push_back(ms);
  ratio_.push_back(ms / plain_ms);
}

Timing Timings::medians() const {
  Timing timing;
  timing.plain_ms = median(plain_);
  timing.ms = median(candidate_);
  timing.ratio = median(ratio_);
  return timing;
}

Timing time_in_turn(Workload& workload,
                    const Candidate& candidate,
                    int warm_up_rounds,
                    int rounds,
                    const std::function<void(int round)>& on_round) {
  candidate.check();

  Timings timings;
  std::vector<double> products;
  for (int round = -warm_up_rounds; round < rounds; ++round) {
    const auto [plain, ms] = in_turn(
        round,
        [&] { return plain_ms(workload); },
        [&] { return candidate_ms(workload, candidate); });
    if (round >= 0) {
      timings.add(plain, ms);
      if (candidate.products) products.push_back(static_cast<double>(candidate.products()));
    }
    on_round(round);
  }

  Timing timing = timings.medians();
  if (!products.empty()) timing.products = median(products);
  timing.peak_mb = extra_peak_mb(workload, candidate);
  return timing;
}

}  // namespace flightdeck::cli
