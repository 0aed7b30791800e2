// SPDX-License-Identifier: MIT
#include "suite/optimizers/lars.h"

#include "suite/layer_rate.h"
#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite {

std::vector<Field> LarsOptions::fields() {
  return {rate_field(learning_rate),
          momentum_field(momentum),
          positive("trust", "length of a step beside that of the parameter", trust),
          weight_decay_field(weight_decay)};
}

const std::vector<std::string>& LarsOptions::state_names() const {
  static const std::vector<std::string> names = {"velocity"};
  return names;
}

void LarsOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant share{momentum}, decay{weight_decay};
  Tensor& velocity = state.tensors[0];
  sweep_at_layer_rate(
      [=](const auto& rate, auto& x, const auto& g, auto& v) {
        v = share * v + rate * computed(g + decay * x);
        x = x - v;
      },
      learning_rate * trust,
      weight_decay,
      parameter,
      gradient,
      parameter,
      gradient,
      velocity);
}

namespace optimizers {
OptimizerEntry lars() {
  return entry_of<LarsOptions>("momentum with steps as long as the layer's parameters");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
