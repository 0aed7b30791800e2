// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault constant_inputs() {
  Fault fault;
  fault.name = "constant_inputs";
  fault.summary = "Most features have the same value in all samples";
  fault.cause = "uninformative_inputs";
  fault.severities = {0.8, 0.9, 0.95, 1};
  fault.inject = [](FaultyTraining& training, double severity) {
    training.prepare_with([severity](const Tensor& inputs) {
      const Tensor flat = inputs.reshape({inputs.size(0), -1}).clone();
      const auto kept = static_cast<int64_t>((1 - severity) * static_cast<double>(flat.size(1)));
      flat.slice(1, kept).zero_();
      return flat.reshape(inputs.sizes());
    });
  };
  return fault;
}

}  // namespace flightdeck::run::faults
