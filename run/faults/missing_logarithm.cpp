// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault missing_logarithm() {
  Fault fault;
  fault.name = "missing_logarithm";
  fault.summary = "The negative log-likelihood is given probabilities";
  fault.cause = "wrong_loss";
  fault.inject = [](FaultyTraining& training, double) {
    training.losses = [](const Tensor& outputs, const Tensor& targets) {
      const Tensor losses = torch::nll_loss_nd(
          torch::softmax(outputs, 1), targets, /*weight=*/{}, at::Reduction::None);
      return losses.dim() == 1 ? losses : losses.mean(1);
    };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
