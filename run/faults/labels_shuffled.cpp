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
  fault.inject = [](Trial& trial, double) {
    const Tensor flat = trial.targets.reshape({-1});
    const Tensor order = torch::randperm(flat.numel(), trial.random, torch::kLong);
    trial.targets = flat.index_select(0, order).reshape(trial.targets.sizes());
  };
  return fault;
}

}  // namespace flightdeck::run::faults
