// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault inputs_unscaled() {
  Fault fault;
  fault.name = "inputs_unscaled";
  fault.summary = "Inputs are as large as bytes";
  fault.cause = "inputs_not_scaled";
  fault.severities = {20, 60, 128, 255};
  fault.fits = [](const FaultyTraining& training) { return !training.is_text; };
  fault.inject = [](FaultyTraining& training, double severity) {
    training.prepare_with([severity](const Tensor& inputs) { return inputs * severity; });
  };
  return fault;
}

}  // namespace flightdeck::run::faults
