// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault label_as_number() {
  Fault fault;
  fault.name = "label_as_number";
  fault.summary = "The mean output is drawn to the number of the class";
  fault.cause = "wrong_loss";
  fault.fits = [](const FaultyTraining& training) { return !training.is_text; };
  fault.inject = [](FaultyTraining& training, double) {
    training.losses = [](const Tensor& outputs, const Tensor& targets) {
      return (outputs.mean(1) - targets.to(outputs.scalar_type())).pow(2);
    };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
