// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault no_activation() {
  Fault fault;
  fault.name = "no_activation";
  fault.summary = "Nothing stands between the layers";
  fault.cause = "missing_activation";
  fault.fits = [](const FaultyTraining& training) {
    return training.parts && training.parts->hidden_layers > 0;
  };
  fault.inject = [](FaultyTraining& training, double) {
    training.parts->activation = [](const Tensor& values) { return values; };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
