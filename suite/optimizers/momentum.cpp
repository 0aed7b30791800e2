// SPDX-License-Identifier: MIT
#include "suite/optimizers/momentum.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

std::vector<Field> MomentumOptions::fields() {
  return {rate_field(learning_rate), momentum_field(momentum), weight_decay_field(weight_decay)};
}

const std::vector<std::string>& MomentumOptions::state_names() const {
  static const std::vector<std::string> names = {"velocity"};
  return names;
}

void MomentumOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant rate{learning_rate}, share{momentum};
  sweep_decayed(
      [=](auto& x, const auto& g, auto& v) {
        v = share * v + g;
        x = x - rate * v;
      },
      weight_decay,
      parameter,
      gradient,
      state.tensors[0]);
}

namespace optimizers {
OptimizerEntry momentum() {
  return entry_of<MomentumOptions>("gradient descent with heavy-ball momentum");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
