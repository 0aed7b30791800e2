// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault vanishing_sigmoid() {
  Fault fault;
  fault.name = "vanishing_sigmoid";
  fault.summary = "Hidden layers have sigmoids behind small weights";
  fault.cause = "vanishing_gradients";
  fault.also = {"bad_initialisation", "saturated_activations", "weights_too_large"};
  fault.severities = {0.3, 0.1, 0.03, 0.01};
  fault.is_of_degree = true;
  fault.fits = [](const FaultyTraining& training) {
    // Shortcuts and norms carry the gradient around a sigmoid.
    return training.parts && training.parts->hidden_layers > 1 && !training.is_text;
  };
  fault.inject = [](FaultyTraining& training, double severity) {
    const torch::NoGradGuard no_grad;
    training.parts->activation = [](const Tensor& values) { return torch::sigmoid(values); };
    for (auto& parameter : training.model.module->parameters()) {
      if (parameter.dim() > 1) parameter.mul_(severity);
    }
  };
  return fault;
}

}  // namespace flightdeck::run::faults
