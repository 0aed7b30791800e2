// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault detached_layer() {
  Fault fault;
  fault.name = "detached_layer";
  fault.summary = "A hidden layer is taken out of the graph";
  fault.cause = "detached_branch";
  fault.fits = [](const FaultyTraining& training) {
    return training.parts && training.parts->hidden_layers > 0;
  };
  fault.inject = [](FaultyTraining& training, double) {
    training.parts->between = [](int64_t layer, const Tensor& values) {
      return layer == 0 ? values.detach() : values;
    };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
