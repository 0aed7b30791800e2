// SPDX-License-Identifier: MIT
#include "suite/optimizers/adamw.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

void AdamWOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant keep1{beta1}, fresh1{1.0 - beta1}, keep2{beta2}, fresh2{1.0 - beta2};
  const double correction2 = correction(beta2, state);
  const Constant rate{learning_rate / correction(beta1, state)};
  const Constant scale{1.0 / std::sqrt(correction2)}, least{epsilon};
  const Constant rest{1.0 - learning_rate * weight_decay};
  sweep(
      [=](auto& x, const auto& g, auto& m, auto& v) {
        m = keep1 * m + fresh1 * g;
        v = keep2 * v + fresh2 * (g * g);
        x = rest * x - rate * m / (scale * root(v) + least);
      },
      parameter,
      gradient,
      state.tensors[0],
      state.tensors[1]);
}

namespace optimizers {
OptimizerEntry adamw() {
  return entry_of<AdamWOptions>("Adam with weight decay apart from the gradient");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
