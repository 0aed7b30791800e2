// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault ignored_targets() {
  Fault fault;
  fault.name = "ignored_targets";
  fault.summary = "Most targets are masked";
  fault.cause = "masked_targets";
  fault.severities = {0.7, 0.8, 0.9, 0.95};
  fault.fits = [](const FaultyTraining& training) { return training.is_text; };
  fault.inject = [](FaultyTraining& training, double severity) {
    const Tensor is_masked =
        torch::rand(training.targets.sizes(), training.random, torch::kFloat) < severity;
    training.targets = training.targets.masked_fill(is_masked, -100);
  };
  return fault;
}

}  // namespace flightdeck::run::faults
