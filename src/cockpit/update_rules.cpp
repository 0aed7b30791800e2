// SPDX-License-Identifier: MIT
#include "cockpit/update_rules.h"

#include <cmath>
#include <unordered_map>

#include <ATen/ATen.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include "graph/torch_compat.h"

namespace flightdeck {
namespace {

namespace optim = torch::optim;

// m / (1 - beta1^t) over sqrt(v / (1 - beta2^t)) + eps, with t the steps done.
template <typename Options, typename State>
UpdateRule adam_rule(const Options& options, const State* state) {
  UpdateRule rule;
  const auto [beta1, beta2] = options.betas();
  rule.rate = options.lr();
  rule.momentum = beta1;
  rule.averages = true;
  if (state == nullptr || state->step() == 0) return rule;
  const auto t = static_cast<double>(state->step());
  const Tensor& second = options.amsgrad() && state->max_exp_avg_sq().defined()
                             ? state->max_exp_avg_sq()
                             : state->exp_avg_sq();
  rule.scale = (second / (1 - std::pow(beta2, t))).sqrt().add(options.eps());
  rule.scale.mul_(1 - std::pow(beta1, t));
  return rule;
}

// False if the optimizer is of another kind, or has not made a step yet and will be scaled by one.
bool read_rule(const optim::Optimizer& optimizer,
               const optim::OptimizerParamGroup& group,
               const Tensor& tensor,
               UpdateRule& rule) {
  const auto* state = compat::state_of(optimizer.state(), tensor.unsafeGetTensorImpl());
  if (const auto* sgd = dynamic_cast<const optim::SGDOptions*>(&group.options())) {
    rule = {sgd->lr(), sgd->momentum(), false, sgd->nesterov(), {}};
    return sgd->dampening() == 0;
  }
  if (const auto* adam = dynamic_cast<const optim::AdamOptions*>(&group.options())) {
    rule = adam_rule(*adam, dynamic_cast<const optim::AdamParamState*>(state));
    return rule.scale.defined();
  }
  if (const auto* adam = dynamic_cast<const optim::AdamWOptions*>(&group.options())) {
    rule = adam_rule(*adam, dynamic_cast<const optim::AdamWParamState*>(state));
    return rule.scale.defined();
  }
  const auto* rmsprop = dynamic_cast<const optim::RMSpropOptions*>(&group.options());
  const auto* kept = dynamic_cast<const optim::RMSpropParamState*>(state);
  if (rmsprop == nullptr || kept == nullptr || rmsprop->centered()) return false;
  rule = {rmsprop->lr(),
          rmsprop->momentum(),
          false,
          false,
          kept->square_avg().sqrt().add(rmsprop->eps())};
  return true;
}

}  // namespace

std::vector<UpdateRule> read_update_rules(const StepOptions& options,
                                          const Parameters& parameters) {
  std::unordered_map<const c10::TensorImpl*, UpdateRule> known;
  if (options.update_rules) {
    for (const auto& [tensor, rule] : *options.update_rules) {
      known[tensor.unsafeGetTensorImpl()] = rule;
    }
  } else if (options.optimizer != nullptr) {
    for (const auto& group : options.optimizer->param_groups()) {
      for (const Tensor& tensor : group.params()) {
        UpdateRule rule;
        if (!read_rule(*options.optimizer, group, tensor, rule)) return {};
        known[tensor.unsafeGetTensorImpl()] = rule;
      }
    }
  }
  std::vector<UpdateRule> rules;
  for (const NamedParameter& parameter : parameters) {
    const auto found = known.find(parameter.tensor.unsafeGetTensorImpl());
    if (found == known.end()) return {};
    rules.push_back(found->second);
  }
  return rules;
}

}  // namespace flightdeck
