// SPDX-License-Identifier: MIT
// Preconditioning by a diagonal: x <- x - rate g / (diagonal + damping).
#pragma once

#include "suite/optimizers/curvature/preconditioned.h"

namespace flightdeck::suite {

class DiagonalOptions : public PreconditionedOptions {
 public:
  DiagonalOptions() {
    learning_rate = 1e-3;
    damping = 1e-3;
  }

  const std::vector<std::string>& state_names() const override {
    static const std::vector<std::string> names = {"diagonal"};
    return names;
  }
  Preconditioner prepare(const std::vector<Tensor>& measured, double l2) const override {
    const Tensor damped = measured[0].add(damping + l2);
    return [damped](const Tensor& gradient) { return gradient.div(damped); };
  }
};

}  // namespace flightdeck::suite
