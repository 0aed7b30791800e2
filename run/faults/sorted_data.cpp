// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault sorted_data() {
  Fault fault;
  fault.name = "sorted_data";
  fault.summary = "Data come in the order of their classes";
  fault.cause = "data_not_shuffled";
  fault.fits = [](const FaultyTraining& training) { return !training.is_text; };
  fault.inject = [](FaultyTraining& training, double) {
    const Tensor order = training.targets.argsort();
    training.inputs = training.inputs.index_select(0, order);
    training.targets = training.targets.index_select(0, order);
    training.shuffles = false;
  };
  return fault;
}

}  // namespace flightdeck::run::faults
