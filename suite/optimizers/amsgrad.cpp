// SPDX-License-Identifier: MIT
#include "suite/optimizers/amsgrad.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

const std::vector<std::string>& AmsGradOptions::state_names() const {
  static const std::vector<std::string> names = {"mean", "mean_square", "largest_square"};
  return names;
}

void AmsGradOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant keep1{beta1}, fresh1{1.0 - beta1}, keep2{beta2}, fresh2{1.0 - beta2};
  const double correction2 = correction(beta2, state);
  const Constant rate{learning_rate / correction(beta1, state)};
  const Constant scale{1.0 / std::sqrt(correction2)}, least{epsilon};
  sweep_decayed(
      [=](auto& x, const auto& g, auto& m, auto& v, auto& u) {
        m = keep1 * m + fresh1 * g;
        v = keep2 * v + fresh2 * (g * g);
        u = larger(u, v);
        x = x - rate * m / (scale * root(u) + least);
      },
      weight_decay,
      parameter,
      gradient,
      state.tensors[0],
      state.tensors[1],
      state.tensors[2]);
}

namespace optimizers {
OptimizerEntry amsgrad() { return entry_of<AmsGradOptions>("Adam whose scale never falls"); }
}  // namespace optimizers

}  // namespace flightdeck::suite
