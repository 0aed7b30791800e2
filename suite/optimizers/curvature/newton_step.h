// SPDX-License-Identifier: MIT
// Update formulas that solve for a whole step while the graph is there, and keep nothing after it.
#pragma once

#include "suite/curvature_optimizer.h"
#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite {

class NewtonStepOptions : public CurvatureFormulaOptions {
 public:
  const std::vector<std::string>& state_names() const override {
    static const std::vector<std::string> names = {"descent"};
    return names;
  }
  Preconditioner prepare(const std::vector<Tensor>& measured, double) const override {
    return [descent = measured[0]](const Tensor&) { return descent; };
  }
};

}  // namespace flightdeck::suite
