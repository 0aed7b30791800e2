// SPDX-License-Identifier: MIT
// Nesterov's accelerated gradient: v <- momentum v + g, x <- x - rate (g + momentum v).
#pragma once

#include "suite/update_formula.h"

namespace flightdeck::suite {

class NagOptions : public FormulaOptionsOf<NagOptions> {
 public:
  double momentum = 0.99;  ///< the comparison's; elsewhere 0.9 is usual

  NagOptions() { learning_rate = 1e-2; }

  std::string name() const override { return "nag"; }
  std::vector<Field> fields() override;
  const std::vector<std::string>& state_names() const override;
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using Nag = OptimizerOf<NagOptions>;

}  // namespace flightdeck::suite
