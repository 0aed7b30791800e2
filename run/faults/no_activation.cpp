// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault no_activation() {
  Fault fault;
  fault.name = "no_activation";
  fault.summary = "Nothing stands between the layers";
  fault.cause = "missing_activation";
  fault.fits = [](const Trial& trial) { return trial.parts && trial.parts->hidden_layers > 0; };
  fault.inject = [](Trial& trial, double) {
    trial.parts->activation = [](const Tensor& values) { return values; };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
