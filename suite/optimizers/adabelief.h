// SPDX-License-Identifier: MIT
// AdaBelief: Adam that divides by how far gradients lie from their mean.
#pragma once

#include "suite/optimizers/adam_family.h"

namespace flightdeck::suite {

class AdaBeliefOptions : public FormulaOptionsOf<AdaBeliefOptions, AdamFamilyOptions> {
 public:
  AdaBeliefOptions() { epsilon = 1e-14; }

  std::string name() const override { return "adabelief"; }
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using AdaBelief = OptimizerOf<AdaBeliefOptions>;

}  // namespace flightdeck::suite
