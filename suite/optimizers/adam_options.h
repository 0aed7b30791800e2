// SPDX-License-Identifier: MIT
// What Adam and AMSGrad have in common.
#pragma once

#include <torch/torch.h>

#include "suite/optimizer.h"

namespace flightdeck::suite::optimizers {

inline torch::optim::AdamOptions adam_options(const Hyperparameters& values) {
  torch::optim::AdamOptions options(values.at("learning_rate"));
  options.betas({values.at("beta1"), values.at("beta2")});
  options.eps(values.at("epsilon"));
  options.weight_decay(values.at("weight_decay"));
  return options;
}

}  // namespace flightdeck::suite::optimizers
