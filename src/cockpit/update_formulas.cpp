// SPDX-License-Identifier: MIT
#include "cockpit/update_formulas.h"

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

// Describes m / (1 - beta1^t) over sqrt(v / (1 - beta2^t)) + eps, with t the steps done.
template <typename Options, typename State>
UpdateFormula adam_formula(const Options& options, const State* state) {
  UpdateFormula formula;
  const auto [beta1, beta2] = options.betas();
  formula.rate = options.lr();
  formula.momentum = beta1;
  formula.averages = true;
  if (state == nullptr || state->step() == 0) return formula;
  const auto t = static_cast<double>(state->step());
  const Tensor& second = options.amsgrad() && state->max_exp_avg_sq().defined()
                             ? state->max_exp_avg_sq()
                             : state->exp_avg_sq();
  formula.scale = (second / (1 - std::pow(beta2, t))).sqrt().add(options.eps());
  formula.scale.mul_(1 - std::pow(beta1, t));
  return formula;
}

// Returns false if the optimizer is of another kind, or has not made a step yet and will be scaled
// by one.
bool read_formula(const optim::Optimizer& optimizer,
                  const optim::OptimizerParamGroup& group,
                  const Tensor& tensor,
                  UpdateFormula& formula) {
  const auto* state = compat::state_of(optimizer.state(), tensor.unsafeGetTensorImpl());
  if (const auto* sgd = dynamic_cast<const optim::SGDOptions*>(&group.options())) {
    formula = {sgd->lr(), sgd->momentum(), false, sgd->nesterov(), {}};
    return sgd->dampening() == 0;
  }
  if (const auto* adam = dynamic_cast<const optim::AdamOptions*>(&group.options())) {
    formula = adam_formula(*adam, dynamic_cast<const optim::AdamParamState*>(state));
    return formula.scale.defined();
  }
  if (const auto* adam = dynamic_cast<const optim::AdamWOptions*>(&group.options())) {
    formula = adam_formula(*adam, dynamic_cast<const optim::AdamWParamState*>(state));
    return formula.scale.defined();
  }
  const auto* rmsprop = dynamic_cast<const optim::RMSpropOptions*>(&group.options());
  const auto* kept = dynamic_cast<const optim::RMSpropParamState*>(state);
  if (rmsprop == nullptr || kept == nullptr || rmsprop->centered()) return false;
  formula = {rmsprop->lr(),
             rmsprop->momentum(),
             false,
             false,
             kept->square_avg().sqrt().add(rmsprop->eps())};
  return true;
}

}  // namespace

std::vector<UpdateFormula> read_update_formulas(const StepOptions& options,
                                                const Parameters& parameters) {
  std::unordered_map<const c10::TensorImpl*, UpdateFormula> known;
  if (options.update_formulas) {
    for (const auto& [tensor, formula] : *options.update_formulas) {
      known[tensor.unsafeGetTensorImpl()] = formula;
    }
  } else if (options.optimizer != nullptr) {
    for (const auto& group : options.optimizer->param_groups()) {
      for (const Tensor& tensor : group.params()) {
        UpdateFormula formula;
        if (!read_formula(*options.optimizer, group, tensor, formula)) return {};
        known[tensor.unsafeGetTensorImpl()] = formula;
      }
    }
  }
  std::vector<UpdateFormula> formulas;
  for (const NamedParameter& parameter : parameters) {
    const auto found = known.find(parameter.tensor.unsafeGetTensorImpl());
    if (found == known.end()) return {};
    formulas.push_back(found->second);
  }
  return formulas;
}

}  // namespace flightdeck
