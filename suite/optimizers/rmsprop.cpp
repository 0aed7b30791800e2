// SPDX-License-Identifier: MIT
#include "suite/optimizers/rmsprop.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

std::vector<Field> RmsPropOptions::fields() {
  return {rate_field(learning_rate),
          decay_field(decay),
          epsilon_field(epsilon),
          below_one("momentum", "share of the last step that is kept", momentum),
          start_field(start),
          weight_decay_field(weight_decay)};
}

// The velocity is kept only where it is used.
const std::vector<std::string>& RmsPropOptions::state_names() const {
  static const std::vector<std::string> plain = {"mean_square"};
  static const std::vector<std::string> with_velocity = {"mean_square", "velocity"};
  return momentum > 0.0 ? with_velocity : plain;
}

Tensor RmsPropOptions::first_state(size_t index, const Tensor& parameter) const {
  return at::full_like(parameter, index == 0 ? start : 0.0);
}

void RmsPropOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant rate{learning_rate}, keep{decay}, fresh{1.0 - decay}, least{epsilon};
  if (momentum > 0.0) {
    const Constant share{momentum};
    sweep_decayed(
        [=](auto& x, const auto& g, auto& s, auto& v) {
          s = keep * s + fresh * (g * g);
          v = share * v + g / (root(s) + least);
          x = x - rate * v;
        },
        weight_decay,
        parameter,
        gradient,
        state.tensors[0],
        state.tensors[1]);
    return;
  }
  sweep_decayed(
      [=](auto& x, const auto& g, auto& s) {
        s = keep * s + fresh * (g * g);
        x = x - rate * g / (root(s) + least);
      },
      weight_decay,
      parameter,
      gradient,
      state.tensors[0]);
}

namespace optimizers {
OptimizerEntry rmsprop() {
  return entry_of<RmsPropOptions>("steps scaled by a running mean of squared gradients");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
