// SPDX-License-Identifier: MIT
#include "suite/optimizers/adabound.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

std::vector<Field> AdaBoundOptions::fields() {
  std::vector<Field> all = AdamFamilyOptions::fields();
  all.insert(all.begin() + 1, final_rate_field(final_rate));
  all.push_back(gamma_field(gamma));
  return all;
}

AdaBoundOptions::Bounds AdaBoundOptions::bounds(const FormulaState& state) const {
  const double t = static_cast<double>(state.steps);
  return {final_rate * (1.0 - 1.0 / (gamma * t + 1.0)), final_rate * (1.0 + 1.0 / (gamma * t))};
}

void AdaBoundOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant keep1{beta1}, fresh1{1.0 - beta1}, keep2{beta2}, fresh2{1.0 - beta2};
  const Constant rate{learning_rate * std::sqrt(correction(beta2, state)) /
                      correction(beta1, state)};
  const Constant low{bounds(state).low}, high{bounds(state).high}, least{epsilon};
  sweep_decayed(
      [=](auto& x, const auto& g, auto& m, auto& v) {
        m = keep1 * m + fresh1 * g;
        v = keep2 * v + fresh2 * (g * g);
        x = x - between(rate / (root(v) + least), low, high) * m;
      },
      weight_decay,
      parameter,
      gradient,
      state.tensors[0],
      state.tensors[1]);
}

namespace optimizers {
OptimizerEntry adabound() {
  return entry_of<AdaBoundOptions>("Adam whose rates close on those of gradient descent");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
