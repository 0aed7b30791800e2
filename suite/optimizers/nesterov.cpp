// SPDX-License-Identifier: MIT
// Nesterov's momentum: v <- momentum v + g, theta <- theta - rate (g + momentum v).
#include <torch/torch.h>

#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite::optimizers {

OptimizerEntry nesterov() {
  OptimizerEntry entry;
  entry.name = "nesterov";
  entry.summary = "gradient descent with Nesterov's momentum";
  entry.hyperparameters = {rate(1e-2), momentum_share(), weight_decay()};
  entry.create = [](std::vector<Tensor> parameters, const Hyperparameters& values) {
    torch::optim::SGDOptions options(values.at("learning_rate"));
    options.weight_decay(values.at("weight_decay"));
    options.momentum(values.at("momentum"));
    options.nesterov(true);
    return std::make_shared<torch::optim::SGD>(std::move(parameters), options);
  };
  return entry;
}

}  // namespace flightdeck::suite::optimizers
