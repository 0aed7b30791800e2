// SPDX-License-Identifier: MIT
// NAdam: Adam with Nesterov's momentum, whose share rises to beta1.
#pragma once

#include "suite/optimizers/adam_family.h"

namespace flightdeck::suite {

class NAdamOptions : public FormulaOptionsOf<NAdamOptions, AdamFamilyOptions> {
 public:
  double momentum_decay = 4e-3;  ///< speed of that rise

  NAdamOptions() { epsilon = 1e-7; }

  std::string name() const override { return "nadam"; }
  std::vector<Field> fields() override;
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using NAdam = OptimizerOf<NAdamOptions>;

}  // namespace flightdeck::suite
