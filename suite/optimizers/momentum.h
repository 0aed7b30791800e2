// SPDX-License-Identifier: MIT
// Heavy-ball momentum: v <- momentum v + g, x <- x - rate v.
#pragma once

#include "suite/update_formula.h"

namespace flightdeck::suite {

class MomentumOptions : public FormulaOptionsOf<MomentumOptions> {
 public:
  double momentum = 0.99;  ///< the comparison's; elsewhere 0.9 is usual

  MomentumOptions() { learning_rate = 1e-2; }

  std::string name() const override { return "momentum"; }
  std::vector<Field> fields() override;
  const std::vector<std::string>& state_names() const override;
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using Momentum = OptimizerOf<MomentumOptions>;

}  // namespace flightdeck::suite
