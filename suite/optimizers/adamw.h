// SPDX-License-Identifier: MIT
// AdamW: Adam with weight decay apart from the gradient, x <- (1 - rate weight_decay) x first.
#pragma once

#include "suite/optimizers/adam_family.h"

namespace flightdeck::suite {

class AdamWOptions : public FormulaOptionsOf<AdamWOptions, AdamFamilyOptions> {
 public:
  AdamWOptions() { weight_decay = 1e-2; }

  std::string name() const override { return "adamw"; }
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using AdamW = OptimizerOf<AdamWOptions>;

}  // namespace flightdeck::suite
