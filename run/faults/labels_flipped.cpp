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
  fault.fits = [](const FaultyTraining& training) { return !training.is_text; };
  fault.inject = [](FaultyTraining& training, double severity) {
    const Tensor is_wrong =
        torch::rand(training.targets.sizes(), training.random, torch::kFloat) < severity;
    const Tensor other = (training.targets + 1).remainder(training.classes);
    training.targets = torch::where(is_wrong, other, training.targets);
  };
  return fault;
}

}  // namespace flightdeck::run::faults
