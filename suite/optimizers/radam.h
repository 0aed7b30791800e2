// SPDX-License-Identifier: MIT
// RAdam: Adam whose steps are held back while the mean square rests on few gradients.
#pragma once

#include "suite/optimizers/adam_family.h"

namespace flightdeck::suite {

class RAdamOptions : public FormulaOptionsOf<RAdamOptions, AdamFamilyOptions> {
 public:
  RAdamOptions() { epsilon = 1e-7; }

  std::string name() const override { return "radam"; }
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using RAdam = OptimizerOf<RAdamOptions>;

}  // namespace flightdeck::suite
