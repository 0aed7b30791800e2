// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault squared_loss() {
  Fault fault;
  fault.name = "squared_loss";
  fault.summary =
      "The squared difference to the label as a vector takes the place of the cross-entropy";
  fault.cause = "wrong_loss";
  fault.fits = [](const FaultyTraining& training) { return !training.is_text; };
  fault.inject = [](FaultyTraining& training, double) {
    const int64_t classes = training.classes;
    training.losses = [classes](const Tensor& outputs, const Tensor& targets) {
      const Tensor wanted = torch::one_hot(targets, classes).to(outputs.scalar_type());
      return (outputs - wanted).pow(2).mean(1);
    };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
