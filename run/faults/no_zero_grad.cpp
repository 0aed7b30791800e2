// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault no_zero_grad() {
  Fault fault;
  fault.name = "no_zero_grad";
  fault.summary = "Gradients are not cleared between steps";
  fault.cause = "gradients_not_cleared";
  fault.inject = [](Trial& trial, double) { trial.clears_gradients = false; };
  return fault;
}

}  // namespace flightdeck::run::faults
