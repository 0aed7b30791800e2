// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault labels_as_masks() {
  Fault fault;
  fault.name = "labels_as_masks";
  fault.summary = "Labels of a binary cross-entropy are masks up to 255, not up to 1";
  fault.cause = "labels_out_of_range";
  fault.severities = {2, 10, 100, 255};
  fault.fits = [](const FaultyTraining& training) { return !training.is_text; };
  fault.inject = [](FaultyTraining& training, double severity) {
    const int64_t classes = training.classes;
    const auto mask_of = [classes](const Tensor& targets) {
      return torch::one_hot(targets, classes).to(torch::kFloat);
    };
    training.targets = severity * mask_of(training.targets);
    training.losses = [mask_of](const Tensor& outputs, const Tensor& targets) {
      const Tensor mask = targets.dim() == 1 ? mask_of(targets) : targets;
      return torch::binary_cross_entropy_with_logits(
                 outputs, mask, /*weight=*/{}, /*pos_weight=*/{}, at::Reduction::None)
          .sum(1);
    };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
