// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault overwritten_samples() {
  constexpr int64_t kKept = 40;  // so few that copies of one meet in a batch
  Fault fault;
  fault.name = "overwritten_samples";
  fault.summary = "A share of the samples became copies of a few others and kept their own labels";
  fault.cause = "duplicated_data";
  fault.also = {"uninformative_inputs"};  // data at their source mend both
  fault.severities = {0.3, 0.5, 0.7, 0.9};
  fault.fits = [](const FaultyTraining& training) { return !training.is_text; };
  fault.inject = [](FaultyTraining& training, double severity) {
    const int64_t n = training.targets.size(0);
    const Tensor order = torch::randperm(n, training.random, torch::kLong);
    const Tensor spoilt = order.slice(0, 0, static_cast<int64_t>(severity * double(n)));
    const Tensor kept = order.slice(0, n - kKept);
    const Tensor source =
        kept.index_select(0, torch::arange(spoilt.size(0), torch::kLong).remainder(kKept));
    training.inputs =
        training.inputs.index_copy(0, spoilt, training.inputs.index_select(0, source));
  };
  return fault;
}

}  // namespace flightdeck::run::faults
