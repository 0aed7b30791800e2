// SPDX-License-Identifier: MIT
// Adagrad: epsilon stands outside the root.
#include <torch/torch.h>

#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite::optimizers {

OptimizerEntry adagrad() {
  OptimizerEntry entry;
  entry.name = "adagrad";
  entry.summary = "steps scaled by the sum of squared gradients";
  entry.hyperparameters = {rate(1e-2),
                           epsilon(1e-10),
                           not_negative("start", "initial sum of squared gradients", 0.0),
                           weight_decay()};
  entry.create = [](std::vector<Tensor> parameters, const Hyperparameters& values) {
    torch::optim::AdagradOptions options(values.at("learning_rate"));
    options.eps(values.at("epsilon"));
    options.initial_accumulator_value(values.at("start"));
    options.weight_decay(values.at("weight_decay"));
    return std::make_shared<torch::optim::Adagrad>(std::move(parameters), options);
  };
  return entry;
}

}  // namespace flightdeck::suite::optimizers
