// SPDX-License-Identifier: MIT
#include "suite/optimizers/adadelta.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

std::vector<Field> AdadeltaOptions::fields() {
  return {rate_field(learning_rate),
          decay_field(decay),
          epsilon_field(epsilon),
          weight_decay_field(weight_decay)};
}

const std::vector<std::string>& AdadeltaOptions::state_names() const {
  static const std::vector<std::string> names = {"mean_square", "mean_square_step"};
  return names;
}

void AdadeltaOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const {
  const Constant rate{learning_rate}, keep{decay}, fresh{1.0 - decay}, least{epsilon};
  sweep_decayed(
      [=](auto& x, const auto& g, auto& s, auto& d) {
        s = keep * s + fresh * (g * g);
        const auto step = root(d + least) / root(s + least) * g;
        d = keep * d + fresh * (step * step);
        x = x - rate * step;
      },
      weight_decay,
      parameter,
      gradient,
      state.tensors[0],
      state.tensors[1]);
}

namespace optimizers {
OptimizerEntry adadelta() {
  return entry_of<AdadeltaOptions>("steps scaled by running means of squared steps and gradients");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
