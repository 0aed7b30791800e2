// SPDX-License-Identifier: MIT
// Adadelta: steps with the unit of the parameter, from running means of squared steps and
// gradients.
#pragma once

#include "suite/update_formula.h"

namespace flightdeck::suite {

class AdadeltaOptions : public FormulaOptionsOf<AdadeltaOptions> {
 public:
  double decay = 0.95;
  double epsilon = 1e-8;

  std::string name() const override { return "adadelta"; }
  std::vector<Field> fields() override;
  const std::vector<std::string>& state_names() const override;
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using Adadelta = OptimizerOf<AdadeltaOptions>;

}  // namespace flightdeck::suite
