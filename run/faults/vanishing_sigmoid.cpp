// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault vanishing_sigmoid() {
  Fault fault;
  fault.name = "vanishing_sigmoid";
  fault.summary = "Hidden layers have sigmoids behind small weights";
  fault.cause = "vanishing_gradients";
  fault.also = {"bad_initialisation", "saturated_activations"};
  fault.severities = {0.1, 0.03, 0.01};
  fault.fits = [](const Trial& trial) { return trial.parts && trial.parts->hidden_layers > 1; };
  fault.inject = [](Trial& trial, double severity) {
    const torch::NoGradGuard no_grad;
    trial.parts->activation = [](const Tensor& values) { return torch::sigmoid(values); };
    for (auto& parameter : trial.model.module->parameters()) {
      if (parameter.dim() > 1) parameter.mul_(severity);
    }
  };
  return fault;
}

}  // namespace flightdeck::run::faults
