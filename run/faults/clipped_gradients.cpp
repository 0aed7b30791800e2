// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault clipped_gradients() {
  Fault fault;
  fault.name = "clipped_gradients";
  fault.summary = "Gradients are clipped to a tiny length";
  fault.cause = "learning_rate_too_low";
  fault.severities = {0.01, 0.003, 0.001, 0.0001};
  fault.is_of_degree = true;
  fault.fits = [](const FaultyTraining& training) {
    return training.optimizer == std::string("sgd");
  };
  fault.inject = [](FaultyTraining& training, double severity) { training.clip = severity; };
  return fault;
}

}  // namespace flightdeck::run::faults
