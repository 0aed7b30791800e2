// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault weights_too_large() {
  Fault fault;
  fault.name = "weights_too_large";
  fault.summary = "All weights begin too large";
  fault.cause = "weights_too_large";
  fault.also = {"bad_initialisation"};
  fault.severities = {5, 10, 20, 50};
  fault.is_of_degree = true;
  fault.inject = [](FaultyTraining& training, double severity) {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : training.model.module->parameters()) {
      if (parameter.dim() > 1) parameter.mul_(severity);
    }
  };
  return fault;
}

}  // namespace flightdeck::run::faults
