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
  fault.fits = [](const Trial& trial) { return !trial.is_text; };
  fault.inject = [](Trial& trial, double) {
    const int64_t classes = trial.classes;
    trial.losses = [classes](const Tensor& outputs, const Tensor& targets) {
      const Tensor wanted = torch::one_hot(targets, classes).to(outputs.scalar_type());
      return (outputs - wanted).pow(2).mean(1);
    };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
