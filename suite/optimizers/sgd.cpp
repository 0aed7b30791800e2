// SPDX-License-Identifier: MIT
#include "suite/optimizers/sgd.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

std::vector<Field> SgdOptions::fields() {
  return {rate_field(learning_rate), weight_decay_field(weight_decay)};
}

const std::vector<std::string>& SgdOptions::state_names() const {
  static const std::vector<std::string> names;
  return names;
}

void SgdOptions::update(Tensor& parameter, const Tensor& gradient, FormulaState&) const {
  const Constant rate{learning_rate};
  sweep_decayed(
      [=](auto& x, const auto& g) { x = x - rate * g; }, weight_decay, parameter, gradient);
}

namespace optimizers {
OptimizerEntry sgd() { return entry_of<SgdOptions>("plain stochastic gradient descent"); }
}  // namespace optimizers

}  // namespace flightdeck::suite
