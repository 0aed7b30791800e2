// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault relu_outputs() {
  Fault fault;
  fault.name = "relu_outputs";
  fault.summary = "The outputs pass a relu";
  fault.cause = "bounded_outputs";
  fault.fits = [](const FaultyTraining& training) { return training.parts != nullptr; };
  fault.inject = [](FaultyTraining& training, double) {
    training.parts->head = [](const Tensor& outputs) { return torch::relu(outputs); };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
