// SPDX-License-Identifier: MIT
// AdamW: Adam with decoupled weight decay.
#include <torch/torch.h>

#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite::optimizers {

OptimizerEntry adamw() {
  OptimizerEntry entry;
  entry.name = "adamw";
  entry.summary = "Adam with weight decay apart from the gradient";
  entry.hyperparameters = {rate(1e-3), beta1(), beta2(), epsilon(1e-8), weight_decay(1e-2)};
  entry.create = [](std::vector<Tensor> parameters, const Hyperparameters& values) {
    torch::optim::AdamWOptions options(values.at("learning_rate"));
    options.betas({values.at("beta1"), values.at("beta2")});
    options.eps(values.at("epsilon"));
    options.weight_decay(values.at("weight_decay"));
    return std::make_shared<torch::optim::AdamW>(std::move(parameters), options);
  };
  return entry;
}

}  // namespace flightdeck::suite::optimizers
