// SPDX-License-Identifier: MIT
// AdaBound: Adam whose rates are cut to bounds that close on a final rate.
#pragma once

#include "suite/optimizers/adam_family.h"

namespace flightdeck::suite {

class AdaBoundOptions : public FormulaOptionsOf<AdaBoundOptions, AdamFamilyOptions> {
 public:
  double final_rate = 0.1;
  double gamma = 1e-3;

  std::string name() const override { return "adabound"; }
  std::vector<Field> fields() override;
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;

 protected:
  struct Bounds {
    double low, high;
  };
  Bounds bounds(const FormulaState& state) const;
};

using AdaBound = OptimizerOf<AdaBoundOptions>;

}  // namespace flightdeck::suite
