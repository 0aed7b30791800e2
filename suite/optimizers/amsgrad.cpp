// SPDX-License-Identifier: MIT
// AMSGrad: Adam that divides by the largest mean square so far.
#include <torch/torch.h>

#include "suite/optimizers/adam_options.h"
#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite::optimizers {

OptimizerEntry amsgrad() {
  OptimizerEntry entry;
  entry.name = "amsgrad";
  entry.summary = "Adam whose scale never falls";
  entry.hyperparameters = {rate(1e-3), beta1(), beta2(), epsilon(1e-8), weight_decay()};
  entry.create = [](std::vector<Tensor> parameters, const Hyperparameters& values) {
    torch::optim::AdamOptions options = adam_options(values);
    options.amsgrad(true);
    return std::make_shared<torch::optim::Adam>(std::move(parameters), options);
  };
  return entry;
}

}  // namespace flightdeck::suite::optimizers
