// SPDX-License-Identifier: MIT
#include "run/fault.h"

namespace flightdeck::run::faults {

Fault loss_scale_too_small() {
  Fault fault;
  fault.name = "loss_scale_too_small";
  fault.summary = "The loss is scaled so far down that gradients leave the normal numbers";
  fault.cause = "numeric_underflow";
  // Of float32: the smallest normal number is 1e-38, the smallest one 1e-45.
  fault.severities = {1e-39, 1e-40, 1e-41, 1e-42};
  fault.is_of_degree = true;
  fault.inject = [](FaultyTraining& training, double severity) { training.loss_scale = severity; };
  return fault;
}

}  // namespace flightdeck::run::faults
