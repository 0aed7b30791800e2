// SPDX-License-Identifier: MIT
// Layer-wise adaptive moments (You et al. 2020): AdamW's direction, scaled to the length of the
// parameter.
#pragma once

#include "suite/optimizers/adam_family.h"

namespace flightdeck::suite {

class LambOptions : public FormulaOptionsOf<LambOptions, AdamFamilyOptions> {
 public:
  LambOptions() {
    epsilon = 1e-6;
    weight_decay = 0.01;
  }
  std::string name() const override { return "lamb"; }
  const std::vector<std::string>& state_names() const override;
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using Lamb = OptimizerOf<LambOptions>;

}  // namespace flightdeck::suite
