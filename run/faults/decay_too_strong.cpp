// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault decay_too_strong() {
  Fault fault;
  fault.name = "decay_too_strong";
  fault.summary = "Every step takes a share of the parameters away";
  fault.cause = "over_regularised";
  fault.severities = {0.02, 0.03, 0.05, 0.1};
  fault.is_of_degree = true;
  fault.inject = [](FaultyTraining& training, double severity) { training.decay = severity; };
  return fault;
}

}  // namespace flightdeck::run::faults
