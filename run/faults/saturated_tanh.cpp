// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault saturated_tanh() {
  Fault fault;
  fault.name = "saturated_tanh";
  fault.summary = "Hidden layers have a steep tanh";
  fault.cause = "saturated_activations";
  fault.also = {"bad_initialisation", "weights_too_large"};
  fault.severities = {20, 50, 100, 300};
  fault.is_of_degree = true;
  fault.fits = [](const FaultyTraining& training) {
    return training.parts && training.parts->hidden_layers > 0;
  };
  fault.inject = [](FaultyTraining& training, double severity) {
    training.parts->activation = [severity](const Tensor& values) {
      return torch::tanh(values * severity);
    };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
