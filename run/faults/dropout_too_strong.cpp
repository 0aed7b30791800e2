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
  fault.fits = [](const Trial& trial) { return trial.parts && trial.parts->hidden_layers > 0; };
  fault.inject = [](Trial& trial, double severity) { trial.parts->dropout = severity; };
  return fault;
}

}  // namespace flightdeck::run::faults
