// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault sorted_data() {
  Fault fault;
  fault.name = "sorted_data";
  fault.summary = "Data come in the order of their classes";
  fault.cause = "data_not_shuffled";
  fault.fits = [](const Trial& trial) { return !trial.is_text; };
  fault.inject = [](Trial& trial, double) {
    const Tensor order = trial.targets.argsort();
    trial.inputs = trial.inputs.index_select(0, order);
    trial.targets = trial.targets.index_select(0, order);
    trial.shuffles = false;
  };
  return fault;
}

}  // namespace flightdeck::run::faults
