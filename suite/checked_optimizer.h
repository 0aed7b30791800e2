// SPDX-License-Identifier: MIT
// What all optimizers of the suite share: hyperparameters with ranges, and a state that is saved
// and restored.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <torch/optim/optimizer.h>

#include "suite/optimizer.h"

namespace flightdeck::suite {

/// A hyperparameter and where its value is kept.
struct Field {
  Hyperparameter about;
  double* value;
};

/// What an optimizer remembers of one parameter.
class FormulaState : public torch::optim::OptimizerParamState {
 public:
  int64_t steps = 0;     ///< updates so far, the one at work counted in
  double carried = 1.0;  ///< one number, for formulas that have one
  std::vector<std::string> names;
  std::vector<Tensor> tensors;  ///< as `names`

  std::unique_ptr<torch::optim::OptimizerParamState> clone() const override;
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
};

/// Hyperparameters that know the ranges of their values.
class CheckedOptions : public torch::optim::OptimizerOptions {
 public:
  double learning_rate = 1e-3;
  double weight_decay = 0.0;

  virtual std::string name() const = 0;
  /// Returns the hyperparameters, the learning rate first.
  virtual std::vector<Field> fields() = 0;
  /// Names the tensors that are kept per parameter.
  virtual const std::vector<std::string>& state_names() const = 0;
  /// Returns the shape of tensor `index` of the state; the parameter's if not overridden.
  virtual std::vector<int64_t> state_shape(size_t index, const Tensor& parameter) const;

  /// Throws c10::ValueError, with the range, if a value lies outside its range.
  void check() const;

  double get_lr() const override { return learning_rate; }
  void set_lr(const double lr) override { learning_rate = lr; }
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
};

/// Makes Derived copyable through its base, as LibTorch wants of options.
template <typename Derived, typename Base>
class CopyableOptions : public Base {
 public:
  std::unique_ptr<torch::optim::OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// Keeps a FormulaState per parameter. torch::save and torch::load keep state and hyperparameters.
class CheckedOptimizer : public torch::optim::Optimizer {
 public:
  /// Adds a group that keeps its options. The function of the same name in LibTorch 2.13 keeps
  /// those of LibTorch's optimizers only and gives others the defaults (pytorch/pytorch#161825); a
  /// call through the base class still reaches that one.
  void add_param_group(const torch::optim::OptimizerParamGroup& group);
  void save(torch::serialize::OutputArchive& archive) const override;
  /// Throws c10::ValueError if the archive is of another optimizer or of other parameters.
  void load(torch::serialize::InputArchive& archive) override;

 protected:
  CheckedOptimizer(std::vector<torch::optim::OptimizerParamGroup> groups,
                   std::unique_ptr<CheckedOptions> options);

  /// Makes the state if it is not there; `index` is the place among all parameters.
  FormulaState& state_at(size_t index, const Tensor& parameter);

 private:
  using StateKey =
      std::decay_t<decltype(std::declval<torch::optim::Optimizer&>().state())>::key_type;
  struct Slot {
    const void* owner;  // the parameter's TensorImpl
    StateKey key;
  };

  const StateKey& key_of(size_t index, const Tensor& parameter);

  // Keys of the state in the order of the parameters: in LibTorch 1.13 they are text, and writing
  // them takes longer than a small update.
  std::vector<Slot> slots_;
};

/// Returns the options of a group; throws c10::ValueError if they are not of the suite.
const CheckedOptions& options_of(const torch::optim::OptimizerParamGroup& group);

/// Returns the catalogue's entry of an optimizer with these options.
template <typename Options, typename Optimizer>
OptimizerEntry make_entry(std::string summary) {
  OptimizerEntry entry;
  Options defaults;
  entry.name = defaults.name();
  entry.summary = std::move(summary);
  for (const Field& field : defaults.fields()) entry.hyperparameters.push_back(field.about);
  entry.create = [](std::vector<Tensor> parameters, const Hyperparameters& values) {
    Options options;
    for (const Field& field : options.fields()) *field.value = values.at(field.about.name);
    return std::make_shared<Optimizer>(std::move(parameters), options);
  };
  return entry;
}

}  // namespace flightdeck::suite
