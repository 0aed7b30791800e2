// SPDX-License-Identifier: MIT
// What the optimizers of the suite have in common: a formula is a struct of hyperparameters that
// knows how they change one parameter; OptimizerOf<Options> is the LibTorch optimizer that applies
// it.
//
//   suite::AdamOptions options;
//   options.learning_rate = 1e-4;
//   suite::Adam optimizer(model->parameters(), options);
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "suite/checked_optimizer.h"

namespace flightdeck::suite {

/// Hyperparameters and the update that they parametrise.
class FormulaOptions : public CheckedOptions {
 public:
  /// Returns tensor `index` of the state before the first update; zeros if a formula does not
  /// override it.
  virtual Tensor first_state(size_t index, const Tensor& parameter) const;
  /// Changes the parameter in place. `state` has its tensors and counts this update already.
  virtual void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const = 0;
};

template <typename Derived, typename Base = FormulaOptions>
using FormulaOptionsOf = CopyableOptions<Derived, Base>;

/// Applies to every parameter with a gradient the formula of its group.
///
/// After the first update of a parameter a step allocates nothing where the parameter is float or
/// double on the CPU and its gradient lies in memory as it does. From a saved state a training goes
/// on to the bit.
class FormulaOptimizer : public CheckedOptimizer {
 public:
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  FormulaOptimizer(std::vector<torch::optim::OptimizerParamGroup> groups,
                   std::unique_ptr<FormulaOptions> options);

 private:
  FormulaState& state_of(const FormulaOptions& options, size_t index, const Tensor& parameter);
};

template <typename Options>
class OptimizerOf : public FormulaOptimizer {
 public:
  explicit OptimizerOf(std::vector<torch::optim::OptimizerParamGroup> groups,
                       const Options& options = Options())
      : FormulaOptimizer(std::move(groups), std::make_unique<Options>(options)) {}
  explicit OptimizerOf(std::vector<Tensor> parameters, const Options& options = Options())
      : OptimizerOf(
            std::vector<torch::optim::OptimizerParamGroup>{
                torch::optim::OptimizerParamGroup(std::move(parameters))},
            options) {}
};

/// Returns the catalogue's entry of a formula.
template <typename Options>
OptimizerEntry entry_of(std::string summary) {
  return make_entry<Options, OptimizerOf<Options>>(std::move(summary));
}

}  // namespace flightdeck::suite
