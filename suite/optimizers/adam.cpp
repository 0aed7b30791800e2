// SPDX-License-Identifier: MIT
#include "suite/optimizers/adam.h"

#include "suite/sweep.h"

namespace flightdeck::suite {

void AdamOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant keep1{beta1}, fresh1{1.0 - beta1}, keep2{beta2}, fresh2{1.0 - beta2};
  const double correction2 = correction(beta2, state);
  const Constant rate{learning_rate / correction(beta1, state)};
  const Constant scale{1.0 / std::sqrt(correction2)}, least{epsilon};
  sweep_decayed(
      [=](auto& x, const auto& g, auto& m, auto& v) {
        m = keep1 * m + fresh1 * g;
        v = keep2 * v + fresh2 * (g * g);
        x = x - rate * m / (scale * root(v) + least);
      },
      weight_decay,
      parameter,
      gradient,
      state.tensors[0],
      state.tensors[1]);
}

namespace optimizers {
OptimizerEntry adam() {
  return entry_of<AdamOptions>("steps scaled by running means of gradients and their squares");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
