// SPDX-License-Identifier: MIT
// ViViT's damped Newton step: x <- x - rate (G + damping I)^-1 g by the eigenvectors of the GGN's
// Gram matrix; without `trivial` along the directions alone in which the GGN curves.
#pragma once

#include "suite/optimizers/curvature/newton_step.h"

namespace flightdeck::suite {

class VivitNewtonOptions : public CopyableOptions<VivitNewtonOptions, NewtonStepOptions> {
 public:
  double sampled = 0;     ///< 1: would-be gradients instead of the exact loss Hessian
  double mc_samples = 1;  ///< of these, per sample
  double blocks = 0;      ///< 1: each parameter has a GGN of its own
  double trivial = 1;     ///< 1: gradient descent with rate / damping in all other directions

  VivitNewtonOptions() {
    learning_rate = 0.1;
    damping = 0.1;
  }

  std::string name() const override { return "vivit_newton"; }
  std::vector<Field> fields() override;
  std::vector<std::vector<Tensor>> measure(const Observation& observation) const override;
};

using VivitNewton = CurvatureOptimizerOf<VivitNewtonOptions>;

}  // namespace flightdeck::suite
