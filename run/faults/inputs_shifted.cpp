// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault inputs_shifted() {
  Fault fault;
  fault.name = "inputs_shifted";
  fault.summary = "The mean of the inputs is far from zero";
  fault.cause = "inputs_not_scaled";
  fault.severities = {10, 20, 50, 100};
  fault.fits = [](const FaultyTraining& training) { return !training.is_text; };
  fault.inject = [](FaultyTraining& training, double severity) {
    training.prepare_with([severity](const Tensor& inputs) { return inputs + severity; });
  };
  return fault;
}

}  // namespace flightdeck::run::faults
