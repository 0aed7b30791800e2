// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault same_batch() {
  Fault fault;
  fault.name = "same_batch";
  fault.summary = "Every step sees the same batch";
  fault.cause = "repeated_batch";
  fault.inject = [](Trial& trial, double) {
    trial.inputs = trial.inputs.slice(0, 0, trial.batch_size);
    trial.targets = trial.targets.slice(0, 0, trial.batch_size);
    trial.shuffles = false;
  };
  return fault;
}

}  // namespace flightdeck::run::faults
