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
  fault.fits = [](const FaultyTraining& training) {
    return training.parts && training.parts->hidden_layers > 0 && !training.is_text;
  };
  fault.inject = [](FaultyTraining& training, double severity) {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : training.model.module->parameters()) {
      if (parameter.dim() > 1) parameter.mul_(severity);
    }
  };
  return fault;
}

}  // namespace flightdeck::run::faults
