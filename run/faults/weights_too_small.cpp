// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault weights_too_small() {
  Fault fault;
  fault.name = "weights_too_small";
  fault.summary = "All weights begin too small";
  fault.cause = "bad_initialisation";
  fault.also = {"vanishing_gradients", "weights_too_large"};
  fault.severities = {0.03, 0.01, 0.001, 0};
  fault.is_of_degree = true;
  fault.fits = [](const Trial& trial) {
    return trial.parts && trial.parts->hidden_layers > 0 && !trial.is_text;
  };
  fault.inject = [](Trial& trial, double severity) {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : trial.model.module->parameters()) {
      if (parameter.dim() > 1) parameter.mul_(severity);
    }
  };
  return fault;
}

}  // namespace flightdeck::run::faults
