// SPDX-License-Identifier: MIT
#include "suite/optimizers/lamb.h"

#include "suite/layer_rate.h"

namespace flightdeck::suite {

// The direction is kept because its length must be known before the first entry moves.
const std::vector<std::string>& LambOptions::state_names() const {
  static const std::vector<std::string> names = {"mean", "mean_square", "direction"};
  return names;
}

void LambOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant keep1{beta1}, fresh1{1.0 - beta1}, keep2{beta2}, fresh2{1.0 - beta2};
  const Constant share{1.0 / correction(beta1, state)};
  const Constant scale{1.0 / std::sqrt(correction(beta2, state))}, least{epsilon};
  const Constant decay{weight_decay};
  Tensor& direction = state.tensors[2];
  const Tensor& before = parameter;
  sweep(
      [=](const auto& x, const auto& g, auto& m, auto& v, auto& u) {
        m = keep1 * m + fresh1 * g;
        v = keep2 * v + fresh2 * (g * g);
        u = share * m / (scale * root(v) + least) + decay * x;
      },
      before,
      gradient,
      state.tensors[0],
      state.tensors[1],
      direction);
  sweep_at_layer_rate([](const auto& rate, auto& x, const auto& u) { x = x - rate * u; },
                      learning_rate,
                      0.0,
                      parameter,
                      direction,
                      parameter,
                      direction);
}

namespace optimizers {
OptimizerEntry lamb() {
  return entry_of<LambOptions>("Adam with steps as long as the layer's parameters");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
