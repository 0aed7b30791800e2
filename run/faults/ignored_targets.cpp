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
  fault.fits = [](const Trial& trial) { return trial.is_text; };
  fault.inject = [](Trial& trial, double severity) {
    const Tensor is_masked =
        torch::rand(trial.targets.sizes(), trial.random, torch::kFloat) < severity;
    trial.targets = trial.targets.masked_fill(is_masked, -100);
  };
  return fault;
}

}  // namespace flightdeck::run::faults
