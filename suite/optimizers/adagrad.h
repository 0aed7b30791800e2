// SPDX-License-Identifier: MIT
// Adagrad: s <- s + g^2, x <- x - rate g / (sqrt(s) + epsilon).
#pragma once

#include "suite/update_formula.h"

namespace flightdeck::suite {

class AdagradOptions : public FormulaOptionsOf<AdagradOptions> {
 public:
  double epsilon = 1e-7;
  double start = 0.0;  ///< s before the first step

  AdagradOptions() { learning_rate = 1e-2; }

  std::string name() const override { return "adagrad"; }
  std::vector<Field> fields() override;
  const std::vector<std::string>& state_names() const override;
  Tensor first_state(size_t index, const Tensor& parameter) const override;
  void update(Tensor& parameter, const Tensor& gradient, FormulaState& state) const override;
};

using Adagrad = OptimizerOf<AdagradOptions>;

}  // namespace flightdeck::suite
