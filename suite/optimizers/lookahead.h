// SPDX-License-Identifier: MIT
// Lookahead: after every `fast_steps` steps of another optimizer the slow weights follow the
// parameters by `slow_rate` of the way, and the parameters go back to them. What the inner
// optimizer remembers stays.
#pragma once

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

template <typename Inner>
class LookaheadOptions : public FormulaOptionsOf<LookaheadOptions<Inner>, Inner> {
 public:
  double slow_rate = 0.5;
  double fast_steps = 5;

  std::string name() const override { return "lookahead_" + Inner::name(); }
  std::vector<Field> fields() override {
    std::vector<Field> all = Inner::fields();
    all.push_back(slow_rate_field(slow_rate));
    all.push_back(fast_steps_field(fast_steps));
    return all;
  }
  const std::vector<std::string>& state_names() const override {
    static const std::vector<std::string> names = [this] {
      std::vector<std::string> all = Inner::state_names();
      all.emplace_back("slow");
      return all;
    }();
    return names;
  }
  Tensor first_state(size_t index, const Tensor& parameter) const override {
    const bool is_slow = index + 1 == state_names().size();
    return is_slow ? parameter.detach().clone() : Inner::first_state(index, parameter);
  }
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override {
    Inner::update(parameter, gradient, state);
    if (state.steps % static_cast<int64_t>(fast_steps) != 0) return;
    const Constant share{slow_rate};
    sweep(
        [=](auto& x, auto& slow) {
          slow = slow + share * (x - slow);
          x = slow;
        },
        parameter,
        state.tensors.back());
  }
};

template <typename Inner>
using Lookahead = OptimizerOf<LookaheadOptions<Inner>>;

}  // namespace flightdeck::suite
