// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault same_batch() {
  Fault fault;
  fault.name = "same_batch";
  fault.summary = "Every step sees the same batch";
  fault.cause = "repeated_batch";
  fault.inject = [](FaultyTraining& training, double) {
    training.inputs = training.inputs.slice(0, 0, training.batch_size);
    training.targets = training.targets.slice(0, 0, training.batch_size);
    training.shuffles = false;
  };
  return fault;
}

}  // namespace flightdeck::run::faults
