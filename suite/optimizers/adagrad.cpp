// SPDX-License-Identifier: MIT
#include "suite/optimizers/adagrad.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

std::vector<Field> AdagradOptions::fields() {
  return {rate_field(learning_rate),
          epsilon_field(epsilon),
          start_field(start),
          weight_decay_field(weight_decay)};
}

const std::vector<std::string>& AdagradOptions::state_names() const {
  static const std::vector<std::string> names = {"sum_square"};
  return names;
}

Tensor AdagradOptions::first_state(size_t, const Tensor& parameter) const {
  return at::full_like(parameter, start);
}

void AdagradOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant rate{learning_rate}, least{epsilon};
  sweep_decayed(
      [=](auto& x, const auto& g, auto& s) {
        s = s + g * g;
        x = x - rate * g / (root(s) + least);
      },
      weight_decay,
      parameter,
      gradient,
      state.tensors[0]);
}

namespace optimizers {
OptimizerEntry adagrad() {
  return entry_of<AdagradOptions>("steps scaled by the sum of squared gradients");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
