// SPDX-License-Identifier: MIT
#include "suite/optimizers/adam_family.h"

#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite {

std::vector<Field> AdamFamilyOptions::fields() {
  return {rate_field(learning_rate),
          beta1_field(beta1),
          beta2_field(beta2),
          epsilon_field(epsilon),
          weight_decay_field(weight_decay)};
}

const std::vector<std::string>& AdamFamilyOptions::state_names() const {
  static const std::vector<std::string> names = {"mean", "mean_square"};
  return names;
}

}  // namespace flightdeck::suite
