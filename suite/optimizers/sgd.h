// SPDX-License-Identifier: MIT
// Stochastic gradient descent: x <- x - rate g.
#pragma once

#include "suite/update_formula.h"

namespace flightdeck::suite {

class SgdOptions : public FormulaOptionsOf<SgdOptions> {
 public:
  SgdOptions() { learning_rate = 1e-2; }

  std::string name() const override { return "sgd"; }
  std::vector<Field> fields() override;
  const std::vector<std::string>& state_names() const override;
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using Sgd = OptimizerOf<SgdOptions>;

}  // namespace flightdeck::suite
