// SPDX-License-Identifier: MIT
// AMSGrad: Adam that divides by the largest mean square so far.
#include <torch/torch.h>

#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite::optimizers {

OptimizerEntry amsgrad() {
  OptimizerEntry entry;
  entry.name = "amsgrad";
  entry.summary = "Adam whose scale never falls";
  entry.hyperparameters = {rate(1e-3), beta1(), beta2(), epsilon(1e-8), weight_decay()};
  entry.create = [](std::vector<Tensor> parameters, const Hyperparameters& values) {
    torch::optim::AdamOptions options(values.at("learning_rate"));
    options.betas({values.at("beta1"), values.at("beta2")});
    options.eps(values.at("epsilon"));
    options.weight_decay(values.at("weight_decay"));
    options.amsgrad(true);
    return std::make_shared<torch::optim::Adam>(std::move(parameters), options);
  };
  return entry;
}

}  // namespace flightdeck::suite::optimizers
