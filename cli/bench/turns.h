// SPDX-License-Identifier: MIT
// Times a quantity and the plain gradient of the same batch in turn, in one process.
#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/workload.h"

namespace flightdeck::cli {

// One quantity on one workload, with the functions that compute and check it.
struct Candidate {
  std::function<void()> check;     // once, before the first round; throws if the answers are wrong
  std::function<void()> prepare;   // before every step, not timed; may be empty
  std::function<std::any()> step;  // timed; what it returns is freed after the clock has stopped
  std::function<int64_t()> products;  // of the last step; empty where none are counted
};

struct BenchQuantity {
  std::string name;
  std::function<Candidate(Workload&)> candidate;  // refers to the workload
};

struct Timing {
  double plain_ms = 0;             // median
  double ms = 0;                   // median
  double ratio = 0;                // median over rounds of ms / plain_ms of the same round
  std::optional<double> peak_mb;   // peak minus the plain step's peak, in 10^6 bytes
  std::optional<double> products;  // median
};

// Returns what the work takes, the device's queue included.
double milliseconds(const at::Device& device, const std::function<void()>& work);

// Returns times of both, which take turns in going first, so that neither always finds the other's
// caches.
std::pair<double, double> milliseconds_in_turn(const at::Device& device,
                                               int64_t round,
                                               const std::function<void()>& plain,
                                               const std::function<void()>& candidate);

// Pairs of times, one pair per round.
class Timings {
 public:
  void add(double plain_ms, double ms);
  Timing medians() const;
  // Returns candidate to plain, one for each round.
  const std::vector<double>& ratios() const { return ratio_; }

 private:
  std::vector<double> plain_, candidate_, ratio_;
};

// Measures in rounds, and calls `on_round` after each; rounds of warming up have negative numbers.
Timing time_in_turn(Workload& workload,
                    const Candidate& candidate,
                    int warm_up_rounds,
                    int rounds,
                    const std::function<void(int round)>& on_round);

}  // namespace flightdeck::cli
