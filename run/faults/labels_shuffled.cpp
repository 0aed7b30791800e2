// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault labels_shuffled() {
  Fault fault;
  fault.name = "labels_shuffled";
  fault.summary = "Labels have nothing to do with the inputs";
  fault.cause = "wrong_labels";
  fault.also = {"uninformative_inputs"};
  fault.inject = [](FaultyTraining& training, double) {
    const Tensor flat = training.targets.reshape({-1});
    const Tensor order = torch::randperm(flat.numel(), training.random, torch::kLong);
    training.targets = flat.index_select(0, order).reshape(training.targets.sizes());
  };
  return fault;
}

}  // namespace flightdeck::run::faults
