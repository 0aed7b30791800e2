// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault rate_too_low() {
  Fault fault;
  fault.name = "rate_too_low";
  fault.summary = "The learning rate is a small part of the tuned one";
  fault.cause = "learning_rate_too_low";
  fault.severities = {30, 100, 1000, 10000};
  fault.is_of_degree = true;
  fault.inject = [](FaultyTraining& training, double severity) {
    training.hyperparameters["learning_rate"] /= severity;
  };
  return fault;
}

}  // namespace flightdeck::run::faults
