// SPDX-License-Identifier: MIT
// Collects what a run comes to while it trains.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "base/clock.h"
#include "run/run_observer.h"
#include "run/training.h"
#include "study/outcome.h"

namespace flightdeck::run {

class OutcomeKeeper {
 public:
  OutcomeKeeper(const TrainingOptions& options,
                const Training& training,
                std::map<std::string, std::string> tags);
  // Takes over what the run had before it was interrupted.
  void go_on_with(const study::Outcome& outcome) {
    outcome_ = outcome;
    seconds_before_ = outcome.seconds;
  }

  // Is called after every step. The loss stays on its device until somebody asks. A step that
  // `ends_nothing` may have a loss that is not finite.
  void step_done(int64_t step, const Tensor& loss, double seconds, bool ends_nothing = false);
  void evaluated(int64_t step, const Scores& scores);
  // Returns whether a loss seen so far was not finite. Waits for the device.
  bool has_diverged();
  // Returns the outcome as of now. Waits for the device.
  const study::Outcome& outcome();

 private:
  void take_losses();

  study::Outcome outcome_;
  Clock::time_point begin_ = Clock::now();
  double seconds_before_ = 0;    // of the processes before
  int64_t first_waiting_ = 0;    // step of the first of them
  std::vector<Tensor> waiting_;  // losses
  std::set<int64_t> end_nothing_;
};

}  // namespace flightdeck::run
