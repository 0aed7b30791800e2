// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault rate_too_high() {
  Fault fault;
  fault.name = "rate_too_high";
  fault.summary = "The learning rate is many times the tuned one";
  fault.cause = "learning_rate_too_high";
  fault.severities = {30, 100, 300, 1000};
  fault.is_of_degree = true;
  fault.inject = [](FaultyTraining& training, double severity) {
    training.hyperparameters["learning_rate"] *= severity;
  };
  return fault;
}

}  // namespace flightdeck::run::faults
