// SPDX-License-Identifier: MIT
// RMSProp: s <- decay s + (1 - decay) g^2, x <- x - rate g / (sqrt(s) + epsilon).
#pragma once

#include "suite/update_formula.h"

namespace flightdeck::suite {

class RmsPropOptions : public FormulaOptionsOf<RmsPropOptions> {
 public:
  double decay = 0.9;
  double epsilon = 1e-10;
  double momentum = 0.0;  ///< above 0 the scaled gradient goes through heavy-ball momentum
  double start = 0.0;     ///< s before the first step

  std::string name() const override { return "rmsprop"; }
  std::vector<Field> fields() override;
  const std::vector<std::string>& state_names() const override;
  Tensor first_state(size_t index, const Tensor& parameter) const override;
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using RmsProp = OptimizerOf<RmsPropOptions>;

}  // namespace flightdeck::suite
