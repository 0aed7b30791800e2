// SPDX-License-Identifier: MIT
#include "suite/optimizers/radam.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

void RAdamOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant keep1{beta1}, fresh1{1.0 - beta1}, keep2{beta2}, fresh2{1.0 - beta2};
  // `most` and `freedom` are the degrees of freedom of the mean square: at the end, and after t
  // steps.
  const double t = static_cast<double>(state.steps);
  const double most = 2.0 / (1.0 - beta2) - 1.0;
  const double correction2 = correction(beta2, state);
  const double freedom = most - 2.0 * t * (1.0 - correction2) / correction2;
  const double plain_rate = learning_rate / correction(beta1, state);
  if (freedom <= 4.0) {  // its variance is not finite yet
    const Constant rate{plain_rate};
    sweep_decayed(
        [=](auto& x, const auto& g, auto& m, auto& v) {
          m = keep1 * m + fresh1 * g;
          v = keep2 * v + fresh2 * (g * g);
          x = x - rate * m;
        },
        weight_decay,
        parameter,
        gradient,
        state.tensors[0],
        state.tensors[1]);
    return;
  }
  const double trust =
      std::sqrt((freedom - 4.0) * (freedom - 2.0) * most / ((most - 4.0) * (most - 2.0) * freedom));
  const Constant rate{plain_rate * trust}, scale{1.0 / std::sqrt(correction2)}, least{epsilon};
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
OptimizerEntry radam() { return entry_of<RAdamOptions>("Adam that starts carefully"); }
}  // namespace optimizers

}  // namespace flightdeck::suite
