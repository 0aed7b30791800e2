// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault class_imbalance() {
  Fault fault;
  fault.name = "class_imbalance";
  fault.summary = "One class has most of the samples";
  fault.cause = "class_imbalance";
  fault.severities = {0.75, 0.85, 0.95, 0.98};
  fault.fits = [](const FaultyTraining& training) { return !training.is_text; };
  fault.inject = [](FaultyTraining& training, double severity) {
    const Tensor is_first = training.targets.eq(0);
    const Tensor first = is_first.nonzero().squeeze(1),
                 rest = is_first.logical_not().nonzero().squeeze(1);
    const int64_t n = training.targets.size(0);
    const auto most = static_cast<int64_t>(severity * static_cast<double>(n));
    const Tensor drawn = first.index_select(
        0, torch::randint(0, first.size(0), {most}, training.random, torch::kLong));
    const Tensor others = rest.slice(0, 0, n - most);
    const Tensor chosen = torch::cat({drawn, others});
    training.inputs = training.inputs.index_select(0, chosen);
    // Copies are told from repetitions by a little noise.
    training.inputs =
        training.inputs +
        0.05 * torch::randn(training.inputs.sizes(), training.random, training.inputs.options());
    training.targets = training.targets.index_select(0, chosen);
  };
  return fault;
}

}  // namespace flightdeck::run::faults
