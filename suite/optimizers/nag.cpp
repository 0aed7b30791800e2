// SPDX-License-Identifier: MIT
#include "suite/optimizers/nag.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

std::vector<Field> NagOptions::fields() {
  return {rate_field(learning_rate), momentum_field(momentum), weight_decay_field(weight_decay)};
}

const std::vector<std::string>& NagOptions::state_names() const {
  static const std::vector<std::string> names = {"velocity"};
  return names;
}

void NagOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant rate{learning_rate}, share{momentum};
  sweep_decayed(
      [=](auto& x, const auto& g, auto& v) {
        v = share * v + g;
        x = x - rate * (g + share * v);
      },
      weight_decay,
      parameter,
      gradient,
      state.tensors[0]);
}

namespace optimizers {
OptimizerEntry nag() { return entry_of<NagOptions>("gradient descent with Nesterov's momentum"); }
}  // namespace optimizers

}  // namespace flightdeck::suite
