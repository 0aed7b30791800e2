// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault no_zero_grad() {
  Fault fault;
  fault.name = "no_zero_grad";
  fault.summary = "Gradients are not cleared between steps";
  fault.cause = "gradients_not_cleared";
  fault.inject = [](FaultyTraining& training, double) { training.clears_gradients = false; };
  return fault;
}

}  // namespace flightdeck::run::faults
