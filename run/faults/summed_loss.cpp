// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault summed_loss() {
  Fault fault;
  fault.name = "summed_loss";
  fault.summary = "Losses are summed over the batch";
  fault.cause = "summed_loss";
  fault.also = {"learning_rate_too_high"};
  fault.inject = [](FaultyTraining& training, double) {
    training.reduce = [](const Tensor& losses) { return losses.sum(); };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
