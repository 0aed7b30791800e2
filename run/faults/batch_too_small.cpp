// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault batch_too_small() {
  Fault fault;
  fault.name = "batch_too_small";
  fault.summary = "Batches have a few samples";
  fault.cause = "batch_too_small";
  fault.severities = {6, 4, 3, 2};
  fault.is_of_degree = true;
  fault.inject = [](FaultyTraining& training, double severity) {
    training.batch_size = static_cast<int64_t>(severity);
  };
  return fault;
}

}  // namespace flightdeck::run::faults
