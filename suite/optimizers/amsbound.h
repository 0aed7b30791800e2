// SPDX-License-Identifier: MIT
// AMSBound: AdaBound that divides by the largest mean square so far.
#pragma once

#include "suite/optimizers/adabound.h"

namespace flightdeck::suite {

class AmsBoundOptions : public FormulaOptionsOf<AmsBoundOptions, AdaBoundOptions> {
 public:
  std::string name() const override { return "amsbound"; }
  const std::vector<std::string>& state_names() const override;
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using AmsBound = OptimizerOf<AmsBoundOptions>;

}  // namespace flightdeck::suite
