// SPDX-License-Identifier: MIT
#include "suite/optimizers/nadam.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

std::vector<Field> NAdamOptions::fields() {
  std::vector<Field> all = AdamFamilyOptions::fields();
  all.push_back(
      not_negative("momentum_decay", "speed at which the momentum rises to beta1", momentum_decay));
  return all;
}

void NAdamOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant keep1{beta1}, fresh1{1.0 - beta1}, keep2{beta2}, fresh2{1.0 - beta2};
  // Returns the momentum of step t; `carried` is the product of all up to it.
  const auto share = [this](int64_t t) {
    return beta1 * (1.0 - 0.5 * std::pow(0.96, static_cast<double>(t) * momentum_decay));
  };
  const double now = share(state.steps), next = share(state.steps + 1);
  state.carried *= now;
  const Constant of_gradient{learning_rate * (1.0 - now) / (1.0 - state.carried)};
  const Constant of_mean{learning_rate * next / (1.0 - state.carried * next)};
  const Constant scale{1.0 / std::sqrt(correction(beta2, state))}, least{epsilon};
  sweep_decayed(
      [=](auto& x, const auto& g, auto& m, auto& v) {
        m = keep1 * m + fresh1 * g;
        v = keep2 * v + fresh2 * (g * g);
        x = x - (of_gradient * g + of_mean * m) / (scale * root(v) + least);
      },
      weight_decay,
      parameter,
      gradient,
      state.tensors[0],
      state.tensors[1]);
}

namespace optimizers {
OptimizerEntry nadam() { return entry_of<NAdamOptions>("Adam with Nesterov's momentum"); }
}  // namespace optimizers

}  // namespace flightdeck::suite
