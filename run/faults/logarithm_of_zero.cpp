// SPDX-License-Identifier: MIT
#include <torch/torch.h>

#include "run/fault.h"

namespace flightdeck::run::faults {

Fault logarithm_of_zero() {
  Fault fault;
  fault.name = "logarithm_of_zero";
  fault.summary = "The logarithm of a softmax of large scores is taken";
  fault.cause = "numeric_overflow";
  fault.severities = {100, 300, 1000, 3000};
  fault.inject = [](FaultyTraining& training, double severity) {
    training.losses = [severity](const Tensor& outputs, const Tensor& targets) {
      const Tensor likelihoods = torch::softmax(outputs * severity, 1);
      const Tensor chosen = likelihoods.gather(1, targets.unsqueeze(1)).squeeze(1).log().neg();
      return chosen.dim() == 1 ? chosen : chosen.mean(1);
    };
  };
  return fault;
}

}  // namespace flightdeck::run::faults
