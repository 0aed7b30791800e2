// SPDX-License-Identifier: MIT
// What the optimizers of the suite have in common: a rule is a struct of hyperparameters that knows
// how they change one parameter; OptimizerOf<Rule> is the LibTorch optimizer that applies it.
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
class RuleOptions : public CheckedOptions {
 public:
  /// Tensor `index` of the state before the first update; zeros if a rule does not say otherwise.
  virtual Tensor first_state(size_t index, const Tensor& parameter) const;
  /// Changes the parameter in place. `state` has its tensors and counts this update already.
  virtual void update(Tensor& parameter, const Tensor& gradient, RuleState& state) const = 0;
};

template <typename Derived, typename Base = RuleOptions>
using RuleOptionsOf = CopyableOptions<Derived, Base>;

/// Applies to every parameter with a gradient the formula of its group.
///
/// After the first update of a parameter a step allocates nothing where the parameter is float or
/// double on the CPU and its gradient lies in memory as it does. From a saved state a training goes
/// on to the bit.
class RuleOptimizer : public CheckedOptimizer {
 public:
  Tensor step(LossClosure closure = nullptr) override;

 protected:
  RuleOptimizer(std::vector<torch::optim::OptimizerParamGroup> groups,
                std::unique_ptr<RuleOptions> options);

 private:
  RuleState& state_of(const RuleOptions& options, size_t index, const Tensor& parameter);
};

template <typename Options>
class OptimizerOf : public RuleOptimizer {
 public:
  explicit OptimizerOf(std::vector<torch::optim::OptimizerParamGroup> groups,
                       const Options& options = Options())
      : RuleOptimizer(std::move(groups), std::make_unique<Options>(options)) {}
  explicit OptimizerOf(std::vector<Tensor> parameters, const Options& options = Options())
      : OptimizerOf(
            std::vector<torch::optim::OptimizerParamGroup>{
                torch::optim::OptimizerParamGroup(std::move(parameters))},
            options) {}
};

/// The catalogue's entry of a rule.
template <typename Options>
OptimizerEntry entry_of(std::string summary) {
  return make_entry<Options, OptimizerOf<Options>>(std::move(summary));
}

}  // namespace flightdeck::suite
