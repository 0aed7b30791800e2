// SPDX-License-Identifier: MIT
#include "suite/update_formula.h"

#include <torch/utils.h>

namespace flightdeck::suite {
namespace {

const FormulaOptions& formula_of(const torch::optim::OptimizerParamGroup& group) {
  const auto* options = dynamic_cast<const FormulaOptions*>(&group.options());
  TORCH_CHECK_VALUE(options != nullptr,
                    "optimizer step: a parameter group has the options of another library's "
                    "optimizer; give it options of the suite or none");
  return *options;
}

}  // namespace

Tensor FormulaOptions::first_state(size_t, const Tensor& parameter) const {
  return at::zeros_like(parameter);
}

FormulaOptimizer::FormulaOptimizer(std::vector<torch::optim::OptimizerParamGroup> groups,
                                   std::unique_ptr<FormulaOptions> options)
    : CheckedOptimizer(std::move(groups), std::move(options)) {}

FormulaState& FormulaOptimizer::state_of(const FormulaOptions& options,
                                         size_t index,
                                         const Tensor& parameter) {
  FormulaState& state = state_at(index, parameter);
  const std::vector<std::string>& names = options.state_names();
  for (size_t i = state.tensors.size(); i < names.size(); ++i) {
    state.names.push_back(names[i]);
    state.tensors.push_back(options.first_state(i, parameter));
  }
  return state;
}

Tensor FormulaOptimizer::step(LossClosure closure) {
  Tensor loss;
  if (closure != nullptr) {
    at::AutoGradMode with_gradients(true);
    loss = closure();
  }
  at::NoGradGuard without_gradients;
  size_t index = 0;
  for (torch::optim::OptimizerParamGroup& group : param_groups()) {
    const FormulaOptions& options = formula_of(group);
    for (Tensor& parameter : group.params()) {
      const size_t place = index++;
      const Tensor& gradient = parameter.grad();
      if (!gradient.defined()) continue;
      TORCH_CHECK_VALUE(gradient.layout() == at::kStrided,
                        options.name(),
                        ": a gradient is sparse but must be dense; build the layer without sparse "
                        "gradients");
      FormulaState& state = state_of(options, place, parameter);
      ++state.steps;
      options.update(parameter, gradient, state);
      // Autograd does not see a sweep over memory, but must know that saved values are stale.
      if (!parameter.is_inference()) parameter.unsafeGetTensorImpl()->bump_version();
    }
  }
  return loss;
}

}  // namespace flightdeck::suite
