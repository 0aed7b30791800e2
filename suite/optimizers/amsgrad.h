// SPDX-License-Identifier: MIT
// AMSGrad: Adam that divides by the largest mean square so far.
#pragma once

#include "suite/optimizers/adam_family.h"

namespace flightdeck::suite {

class AmsGradOptions : public FormulaOptionsOf<AmsGradOptions, AdamFamilyOptions> {
 public:
  AmsGradOptions() { learning_rate = 1e-2; }

  std::string name() const override { return "amsgrad"; }
  const std::vector<std::string>& state_names() const override;
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using AmsGrad = OptimizerOf<AmsGradOptions>;

}  // namespace flightdeck::suite
