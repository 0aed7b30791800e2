// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault softmax_twice() {
  Fault fault;
  fault.name = "softmax_twice";
  fault.summary = "The outputs are probabilities already";
  fault.cause = "softmax_twice";
  fault.fits = [](const FaultyTraining& training) { return training.parts != nullptr; };
  fault.inject = [](FaultyTraining& training, double) {
    training.parts->head = [](const Tensor& outputs) { return torch::softmax(outputs, 1); };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
