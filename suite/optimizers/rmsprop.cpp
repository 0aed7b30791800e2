// SPDX-License-Identifier: MIT
// RMSProp: the mean square starts at 0, epsilon stands outside the root.
#include <torch/torch.h>

#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite::optimizers {

OptimizerEntry rmsprop() {
  OptimizerEntry entry;
  entry.name = "rmsprop";
  entry.summary = "steps scaled by a running mean of squared gradients";
  entry.hyperparameters = {rate(1e-3),
                           below_one("decay", "memory of the mean of squared gradients", 0.9),
                           epsilon(1e-8),
                           below_one("momentum", "share of the last step that is kept", 0.0),
                           weight_decay()};
  entry.create = [](std::vector<Tensor> parameters, const Hyperparameters& values) {
    torch::optim::RMSpropOptions options(values.at("learning_rate"));
    options.alpha(values.at("decay"));
    options.eps(values.at("epsilon"));
    options.momentum(values.at("momentum"));
    options.weight_decay(values.at("weight_decay"));
    return std::make_shared<torch::optim::RMSprop>(std::move(parameters), options);
  };
  return entry;
}

}  // namespace flightdeck::suite::optimizers
