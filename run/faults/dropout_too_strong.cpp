// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault dropout_too_strong() {
  Fault fault;
  fault.name = "dropout_too_strong";
  fault.summary = "Hidden layers lose nearly all units by dropout";
  fault.cause = "too_much_dropout";
  fault.severities = {0.7, 0.8, 0.9, 0.95};
  fault.is_of_degree = true;
  fault.fits = [](const FaultyTraining& training) {
    return training.parts && training.parts->hidden_layers > 0;
  };
  fault.inject = [](FaultyTraining& training, double severity) {
    training.parts->dropout = severity;
  };
  return fault;
}

}  // namespace flightdeck::run::faults
