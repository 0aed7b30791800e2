// SPDX-License-Identifier: MIT
// Adam: x <- x - rate m^ / (sqrt(v^) + epsilon), with bias-corrected running means of g and g^2.
#pragma once

#include "suite/optimizers/adam_family.h"

namespace flightdeck::suite {

class AdamOptions : public FormulaOptionsOf<AdamOptions, AdamFamilyOptions> {
 public:
  std::string name() const override { return "adam"; }
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using Adam = OptimizerOf<AdamOptions>;

}  // namespace flightdeck::suite
