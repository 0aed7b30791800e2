// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault label_noise() {
  Fault fault;
  fault.name = "label_noise";
  fault.summary = "A part of the labels is drawn at random";
  fault.cause = "wrong_labels";
  fault.severities = {0.4, 0.6, 0.8, 0.9};
  fault.is_of_degree = true;
  fault.inject = [](FaultyTraining& training, double severity) {
    const Tensor is_wrong =
        torch::rand(training.targets.sizes(), training.random, torch::kFloat) < severity;
    const Tensor other = torch::randint(
        0, training.classes, training.targets.sizes(), training.random, torch::kLong);
    training.targets = torch::where(is_wrong, other, training.targets);
  };
  return fault;
}

}  // namespace flightdeck::run::faults
