// SPDX-License-Identifier: MIT
#include "cockpit/learning_rates.h"

#include <unordered_map>

#include <torch/optim/optimizer.h>

namespace flightdeck {

std::vector<double> learning_rates(const Parameters& parameters, const WatchOptions& options) {
  if (options.learning_rate) {
    return std::vector<double>(parameters.size(), *options.learning_rate);
  }
  TORCH_CHECK_VALUE(options.optimizer != nullptr,
                    "the learning rate is needed but watch was given neither an optimizer nor a "
                    "learning rate; set WatchOptions::optimizer or WatchOptions::learning_rate");
  std::unordered_map<const c10::TensorImpl*, double> rates;
  for (const auto& group : options.optimizer->param_groups()) {
    for (const Tensor& tensor : group.params()) {
      rates[tensor.unsafeGetTensorImpl()] = group.options().get_lr();
    }
  }
  std::vector<double> result;
  for (const NamedParameter& parameter : parameters) {
    const auto found = rates.find(parameter.tensor.unsafeGetTensorImpl());
    TORCH_CHECK_VALUE(found != rates.end(),
                      "the optimizer does not train '",
                      parameter.name,
                      "'; watch the parameters it trains, or set WatchOptions::learning_rate");
    result.push_back(found->second);
  }
  return result;
}

}  // namespace flightdeck
