// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault labels_flipped() {
  Fault fault;
  fault.name = "labels_flipped";
  fault.summary = "Pairs of classes are exchanged in a part of the samples";
  fault.cause = "wrong_labels";
  fault.severities = {0.2, 0.3, 0.4, 0.5};
  fault.is_of_degree = true;
  fault.fits = [](const Trial& trial) { return !trial.is_text; };
  fault.inject = [](Trial& trial, double severity) {
    const Tensor is_wrong =
        torch::rand(trial.targets.sizes(), trial.random, torch::kFloat) < severity;
    const Tensor other = (trial.targets + 1).remainder(trial.classes);
    trial.targets = torch::where(is_wrong, other, trial.targets);
  };
  return fault;
}

}  // namespace flightdeck::run::faults
