// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault penalty_too_strong() {
  Fault fault;
  fault.name = "penalty_too_strong";
  fault.summary = "The squared parameters are penalised too much";
  fault.cause = "over_regularised";
  fault.severities = {0.1, 0.3, 1, 3};
  fault.is_of_degree = true;
  fault.fits = [](const FaultyTraining& training) {
    return training.optimizer != std::string("adam");
  };
  fault.inject = [](FaultyTraining& training, double severity) { training.penalty = severity; };
  return fault;
}

}  // namespace flightdeck::run::faults
