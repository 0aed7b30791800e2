// SPDX-License-Identifier: MIT
#include "suite/optimizers/amsbound.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

const std::vector<std::string>& AmsBoundOptions::state_names() const {
  static const std::vector<std::string> names = {"mean", "mean_square", "largest_square"};
  return names;
}

void AmsBoundOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant keep1{beta1}, fresh1{1.0 - beta1}, keep2{beta2}, fresh2{1.0 - beta2};
  const Constant rate{learning_rate * std::sqrt(correction(beta2, state)) /
                      correction(beta1, state)};
  const Constant low{bounds(state).low}, high{bounds(state).high}, least{epsilon};
  sweep_decayed(
      [=](auto& x, const auto& g, auto& m, auto& v, auto& u) {
        m = keep1 * m + fresh1 * g;
        v = keep2 * v + fresh2 * (g * g);
        u = larger(u, v);
        x = x - between(rate / (root(u) + least), low, high) * m;
      },
      weight_decay,
      parameter,
      gradient,
      state.tensors[0],
      state.tensors[1],
      state.tensors[2]);
}

namespace optimizers {
OptimizerEntry amsbound() { return entry_of<AmsBoundOptions>("AdaBound whose scale never falls"); }
}  // namespace optimizers

}  // namespace flightdeck::suite
