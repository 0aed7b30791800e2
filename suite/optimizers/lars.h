// SPDX-License-Identifier: MIT
// Layer-wise adaptive rate scaling (You et al. 2017; thesis, equation 3.3.14): momentum whose steps
// have the length of the parameter.
#pragma once

#include "suite/update_formula.h"

namespace flightdeck::suite {

class LarsOptions : public FormulaOptionsOf<LarsOptions> {
 public:
  double momentum = 0.9;
  double trust = 1.0;

  LarsOptions() { learning_rate = 0.01; }
  std::string name() const override { return "lars"; }
  std::vector<Field> fields() override;
  const std::vector<std::string>& state_names() const override;
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using Lars = OptimizerOf<LarsOptions>;

}  // namespace flightdeck::suite
