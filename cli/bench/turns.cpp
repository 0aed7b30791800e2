// SPDX-License-Identifier: MIT
#include "cli/bench/turns.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include <torch/cuda.h>

#include "cli/machine/peak_memory.h"

namespace flightdeck::cli {
namespace {

double median(std::vector<double> values) {
  const size_t half = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

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
  const auto start = std::chrono::steady_clock::now();
  work();
  wait();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

std::pair<double, double> milliseconds_in_turn(const at::Device& device,
                                               int64_t round,
                                               const std::function<void()>& plain,
                                               const std::function<void()>& candidate) {
  double plain_ms = 0;
  if (round % 2 == 0) plain_ms = milliseconds(device, plain);
  const double ms = milliseconds(device, candidate);
  if (round % 2 != 0) plain_ms = milliseconds(device, plain);
  return {plain_ms, ms};
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
    // They take turns in going first, so that neither always finds the other's caches.
    double plain = 0;
    if (round % 2 == 0) plain = plain_ms(workload);
    const double ms = candidate_ms(workload, candidate);
    if (round % 2 != 0) plain = plain_ms(workload);
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
