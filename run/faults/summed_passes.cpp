// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault summed_passes() {
  Fault fault;
  fault.name = "summed_passes";
  fault.summary = "Accumulated gradients are not divided by the number of passes";
  fault.cause = "accumulation_not_averaged";
  fault.also = {"learning_rate_too_high"};
  fault.severities = {2, 4, 8, 16};
  fault.inject = [](FaultyTraining& training, double severity) {
    training.passes = static_cast<int64_t>(severity);
    training.averages_passes = false;
  };
  return fault;
}

}  // namespace flightdeck::run::faults
