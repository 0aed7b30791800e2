// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault too_few_steps() {
  Fault fault;
  fault.name = "too_few_steps";
  fault.summary = "The training ends after some steps";
  fault.cause = "too_few_steps";
  fault.also = {"learning_rate_too_low"};
  fault.severities = {30, 20, 14, 10};
  fault.is_of_degree = true;
  fault.inject = [](FaultyTraining& training, double severity) {
    training.steps = static_cast<int64_t>(severity);
  };
  return fault;
}

}  // namespace flightdeck::run::faults
