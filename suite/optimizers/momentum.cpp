// SPDX-License-Identifier: MIT
// Heavy-ball momentum: v <- momentum v + g, theta <- theta - rate v.
#include <torch/torch.h>

#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite::optimizers {

OptimizerEntry momentum() {
  OptimizerEntry entry;
  entry.name = "momentum";
  entry.summary = "gradient descent with heavy-ball momentum";
  entry.hyperparameters = {rate(1e-2), momentum_share(), weight_decay()};
  entry.create = [](std::vector<Tensor> parameters, const Hyperparameters& values) {
    torch::optim::SGDOptions options(values.at("learning_rate"));
    options.weight_decay(values.at("weight_decay"));
    options.momentum(values.at("momentum"));
    return std::make_shared<torch::optim::SGD>(std::move(parameters), options);
  };
  return entry;
}

}  // namespace flightdeck::suite::optimizers
