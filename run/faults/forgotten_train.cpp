// SPDX-License-Identifier: MIT
#include "run/fault.h"

namespace flightdeck::run::faults {

Fault forgotten_train() {
  Fault fault;
  fault.name = "forgotten_train";
  fault.summary = "An evaluation in the middle leaves the model in its mode: dropout goes off";
  fault.cause = "wrong_mode";
  fault.severities = {0.1, 0.2, 0.3, 0.5};
  fault.fits = [](const FaultyTraining& training) {
    return training.parts && training.parts->hidden_layers > 0;
  };
  fault.inject = [](FaultyTraining& training, double severity) {
    training.parts->dropout = severity;
    training.forgets_train_at = training.steps / 3;
  };
  return fault;
}

}  // namespace flightdeck::run::faults
