// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault batch_too_large() {
  Fault fault;
  fault.name = "batch_too_large";
  fault.summary = "Batches have a quarter of the data or more";
  fault.cause = "batch_too_large";
  fault.severities = {0.25, 0.35, 0.5, 0.75};
  fault.inject = [](FaultyTraining& training, double severity) {
    training.batch_size =
        static_cast<int64_t>(severity * static_cast<double>(training.targets.size(0)));
  };
  return fault;
}

}  // namespace flightdeck::run::faults
