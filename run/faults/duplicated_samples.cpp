// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault duplicated_samples() {
  Fault fault;
  fault.name = "duplicated_samples";
  fault.summary = "A part of every batch is copies of its first samples";
  fault.cause = "duplicated_data";
  fault.severities = {0.25, 0.5, 0.75, 0.9};
  fault.inject = [](FaultyTraining& training, double severity) {
    training.on_batch = [severity](int64_t, suite::Batch& batch) {
      const int64_t N = batch.inputs.size(0);
      const auto distinct =
          std::max<int64_t>(1, std::llround((1 - severity) * static_cast<double>(N)));
      const Tensor chosen = torch::arange(N).remainder(distinct);
      batch.inputs = batch.inputs.index_select(0, chosen);
      batch.targets = batch.targets.index_select(0, chosen);
    };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
