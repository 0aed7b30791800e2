// SPDX-License-Identifier: MIT
// What Adam and its relatives share: hyperparameters, running means and bias corrections.
#pragma once

#include <cmath>

#include "suite/update_formula.h"

namespace flightdeck::suite {

class AdamFamilyOptions : public FormulaOptions {
 public:
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;

  std::vector<Field> fields() override;
  /// Names "mean" m and "mean_square" v.
  const std::vector<std::string>& state_names() const override;

 protected:
  /// Returns 1 - beta^t, which a mean that started at 0 is divided by.
  static double correction(double beta, const FormulaState& state) {
    return 1.0 - std::pow(beta, static_cast<double>(state.steps));
  }
};

}  // namespace flightdeck::suite
