// SPDX-License-Identifier: MIT
// Runs one training of FaultBench under a cockpit, into a record.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "flightdeck/cockpit.h"
#include "run/fault.h"

namespace torch::optim {
class Optimizer;
}

namespace flightdeck::run {

class FaultyRun {
 public:
  // Trains unwatched if `folder` is empty.
  FaultyRun(FaultyTraining training,
            const std::string& folder,
            const std::vector<std::string>& quantities,
            const DueSteps& due = {});
  ~FaultyRun();

  // Trains until so many steps are taken, or the run is done.
  void go_on(int64_t steps);
  // Returns whether all steps are taken, some losses in a row were not finite, or a step threw.
  bool is_done() const {
    return step_ >= training_.steps || broken_ >= kBrokenSteps || has_failed_;
  }
  int64_t steps_taken() const { return step_; }
  // Returns the medians of the first and the last tenth.
  std::pair<double, double> losses() const;
  // Returns the share of the held-out samples (letters of texts) that the network gets right now.
  double accuracy();
  // Ends the record.
  void end();

 private:
  static constexpr int64_t kBrokenSteps = 5;

  void take_step();
  suite::Batch next_batch();
  // Returns the scalar that backward() starts at, and the individual losses.
  std::pair<Tensor, Tensor> objective(const suite::Batch& batch, Tensor& outputs);
  void unscale() const;
  void clip() const;
  void decay() const;

  FaultyTraining training_;
  Parameters parameters_;
  std::shared_ptr<torch::optim::Optimizer> optimizer_;
  std::unique_ptr<Cockpit> cockpit_;
  Tensor order_;
  int64_t position_ = 0, step_ = 0, broken_ = 0;
  bool has_failed_ = false;
  std::vector<double> losses_;
};

}  // namespace flightdeck::run
