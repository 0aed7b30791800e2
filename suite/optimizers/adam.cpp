// SPDX-License-Identifier: MIT
// Adam; its weight decay is added to the gradient.
#include <torch/torch.h>

#include "suite/optimizers/adam_options.h"
#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite::optimizers {

OptimizerEntry adam() {
  OptimizerEntry entry;
  entry.name = "adam";
  entry.summary = "steps scaled by running means of gradients and their squares";
  entry.hyperparameters = {rate(1e-3), beta1(), beta2(), epsilon(1e-8), weight_decay()};
  entry.create = [](std::vector<Tensor> parameters, const Hyperparameters& values) {
    return std::make_shared<torch::optim::Adam>(std::move(parameters), adam_options(values));
  };
  return entry;
}

}  // namespace flightdeck::suite::optimizers
