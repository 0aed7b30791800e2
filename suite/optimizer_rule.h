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

#include <torch/optim/optimizer.h>

#include "suite/optimizer.h"

namespace flightdeck::suite {

/// A hyperparameter of a rule and where its value is kept.
struct Field {
  Hyperparameter about;
  double* value;
};

/// What an optimizer remembers of one parameter.
class RuleState : public torch::optim::OptimizerParamState {
 public:
  int64_t steps = 0;     ///< updates so far, the one at work counted in
  double carried = 1.0;  ///< one number, for rules that have one
  std::vector<std::string> names;
  std::vector<Tensor> tensors;  ///< as `names`, shaped as the parameter

  std::unique_ptr<torch::optim::OptimizerParamState> clone() const override;
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
};

/// Hyperparameters and the update that they parametrise.
class RuleOptions : public torch::optim::OptimizerOptions {
 public:
  double learning_rate = 1e-3;
  double weight_decay = 0.0;

  virtual std::string name() const = 0;
  /// The learning rate first.
  virtual std::vector<Field> fields() = 0;
  virtual const std::vector<std::string>& state_names() const = 0;
  /// Tensor `index` of the state before the first update; zeros if a rule does not say otherwise.
  virtual Tensor first_state(size_t index, const Tensor& parameter) const;
  /// Changes the parameter in place. `state` has its tensors and counts this update already.
  virtual void update(Tensor& parameter, const Tensor& gradient, RuleState& state) const = 0;

  /// Throws c10::ValueError, with the range, if a value lies outside its range.
  void check() const;

  double get_lr() const override { return learning_rate; }
  void set_lr(const double lr) override { learning_rate = lr; }
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
};

/// Makes Derived copyable through its base, as LibTorch wants of options.
template <typename Derived, typename Base = RuleOptions>
class RuleOptionsOf : public Base {
 public:
  std::unique_ptr<torch::optim::OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// Applies to every parameter with a gradient the rule of its group.
///
/// After the first update of a parameter a step allocates nothing where the parameter is float or
/// double on the CPU and its gradient lies in memory as it does. torch::save and torch::load keep
/// state and hyperparameters; a training goes on to the bit.
class RuleOptimizer : public torch::optim::Optimizer {
 public:
  Tensor step(LossClosure closure = nullptr) override;
  void save(torch::serialize::OutputArchive& archive) const override;
  /// Throws c10::ValueError if the archive is of another optimizer or of other parameters.
  void load(torch::serialize::InputArchive& archive) override;

 protected:
  RuleOptimizer(std::vector<torch::optim::OptimizerParamGroup> groups,
                std::unique_ptr<RuleOptions> options);

 private:
  using StateKey =
      std::decay_t<decltype(std::declval<torch::optim::Optimizer&>().state())>::key_type;
  struct Slot {
    const void* owner;  // the parameter's TensorImpl
    StateKey key;
  };

  const StateKey& key_of(size_t index, const Tensor& parameter);
  RuleState& state_of(const RuleOptions& options, size_t index, const Tensor& parameter);

  // Keys of the state in the order of the parameters: in LibTorch 1.13 they are text, and writing
  // them takes longer than a small update.
  std::vector<Slot> slots_;
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
  OptimizerEntry entry;
  Options defaults;
  entry.name = defaults.name();
  entry.summary = std::move(summary);
  for (const Field& field : defaults.fields()) entry.hyperparameters.push_back(field.about);
  entry.create = [](std::vector<Tensor> parameters, const Hyperparameters& values) {
    Options options;
    for (const Field& field : options.fields()) *field.value = values.at(field.about.name);
    return std::make_shared<OptimizerOf<Options>>(std::move(parameters), options);
  };
  return entry;
}

}  // namespace flightdeck::suite
