// SPDX-License-Identifier: MIT
// Stochastic gradient descent: theta <- theta - rate g.
#include <torch/torch.h>

#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite::optimizers {

OptimizerEntry sgd() {
  OptimizerEntry entry;
  entry.name = "sgd";
  entry.summary = "plain stochastic gradient descent";
  entry.hyperparameters = {rate(1e-2), weight_decay()};
  entry.create = [](std::vector<Tensor> parameters, const Hyperparameters& values) {
    torch::optim::SGDOptions options(values.at("learning_rate"));
    options.weight_decay(values.at("weight_decay"));
    return std::make_shared<torch::optim::SGD>(std::move(parameters), options);
  };
  return entry;
}

}  // namespace flightdeck::suite::optimizers
