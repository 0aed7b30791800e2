// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault layer_not_optimized() {
  Fault fault;
  fault.name = "layer_not_optimized";
  fault.summary = "The optimizer does not know one layer";
  fault.cause = "parameters_not_optimized";
  fault.severities = {0, 1};
  fault.inject = [](FaultyTraining& training, double severity) {
    const auto parameters = training.model.module->named_parameters();
    // 0: the first parameter, 1: the last.
    const size_t place = severity < 0.5 ? 0 : parameters.size() - 1;
    training.not_optimized.insert(parameters[place].key());
  };
  return fault;
}

}  // namespace flightdeck::run::faults
