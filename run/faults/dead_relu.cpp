// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault dead_relu() {
  Fault fault;
  fault.name = "dead_relu";
  fault.summary = "Biases of hidden layers begin far below zero";
  fault.cause = "dead_units";
  fault.also = {"bad_initialisation", "weights_too_large"};
  fault.severities = {3, 6, 12, 30};
  fault.is_of_degree = true;
  fault.fits = [](const FaultyTraining& training) {
    return training.parts && training.parts->hidden_layers > 0;
  };
  fault.inject = [](FaultyTraining& training, double severity) {
    const torch::NoGradGuard no_grad;
    const auto parameters = training.model.module->named_parameters();
    for (const auto& item : parameters) {
      if (item.key().find("hidden") != std::string::npos && item.value().dim() == 1) {
        Tensor bias = item.value();
        bias.sub_(severity);
      }
    }
  };
  return fault;
}

}  // namespace flightdeck::run::faults
