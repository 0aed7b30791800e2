// SPDX-License-Identifier: MIT
#include "cockpit/learning_rates.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <torch/optim/optimizer.h>

namespace flightdeck {

LearningRates::LearningRates(const StepOptions& options) : told_(options.learning_rate) {
  if (options.optimizer == nullptr && !options.learning_rates) return;
  of_optimizer_.emplace();
  if (options.learning_rates) {
    for (const auto& [tensor, rate] : *options.learning_rates) {
      of_optimizer_->emplace_back(tensor.unsafeGetTensorImpl(), rate);
    }
    return;
  }
  for (const auto& group : options.optimizer->param_groups()) {
    const double rate = told_ ? *told_ : group.options().get_lr();
    for (const Tensor& tensor : group.params()) {
      of_optimizer_->emplace_back(tensor.unsafeGetTensorImpl(), rate);
    }
  }
}

std::vector<double> LearningRates::distinct() const {
  if (told_) return {*told_};
  std::vector<double> rates;
  if (!of_optimizer_) return rates;
  for (const auto& [tensor, rate] : *of_optimizer_) {
    if (std::find(rates.begin(), rates.end(), rate) == rates.end()) rates.push_back(rate);
  }
  std::sort(rates.begin(), rates.end());
  return rates;
}

std::optional<Optimized> LearningRates::optimized(const Parameters& parameters) const {
  if (!of_optimizer_) return std::nullopt;
  std::unordered_set<const c10::TensorImpl*> trained;
  for (const auto& [tensor, rate] : *of_optimizer_) trained.insert(tensor);
  Optimized optimized;
  optimized.others = static_cast<int64_t>(trained.size());
  for (const NamedParameter& parameter : parameters) {
    const bool is_trained = trained.count(parameter.tensor.unsafeGetTensorImpl()) > 0;
    optimized.parameters.push_back(is_trained);
    if (is_trained) --optimized.others;
  }
  return optimized;
}

std::vector<double> LearningRates::of(const Parameters& parameters) const {
  if (told_) return std::vector<double>(parameters.size(), *told_);
  TORCH_CHECK_VALUE(of_optimizer_,
                    "the learning rate is needed but watch was given neither an optimizer nor a "
                    "learning rate; set StepOptions::optimizer or StepOptions::learning_rate");
  const std::unordered_map<const c10::TensorImpl*, double> rates(of_optimizer_->begin(),
                                                                 of_optimizer_->end());
  std::vector<double> result;
  for (const NamedParameter& parameter : parameters) {
    const auto found = rates.find(parameter.tensor.unsafeGetTensorImpl());
    TORCH_CHECK_VALUE(found != rates.end(),
                      "the optimizer does not train '",
                      parameter.name,
                      "'; watch the parameters it trains, or set StepOptions::learning_rate");
    result.push_back(found->second);
  }
  return result;
}

}  // namespace flightdeck
