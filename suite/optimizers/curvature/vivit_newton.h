// SPDX-License-Identifier: MIT
// ViViT's damped Newton step: x <- x - rate (G + damping I)^-1 g by the eigenvectors of the GGN's
// Gram matrix; without `trivial` along the directions alone in which the GGN curves.
// `vivit_noise` damps every direction by what the samples disagree about, too.
#pragma once

#include "flightdeck/vivit.h"
#include "suite/optimizers/curvature/newton_step.h"

namespace flightdeck::suite {

/// What vivit_newton and vivit_noise have in common.
class VivitStepOptions : public NewtonStepOptions {
 public:
  double sampled = 0;            ///< 1: would-be gradients instead of the exact loss Hessian
  double mc_samples = 1;         ///< of these, per sample
  double curvature_samples = 0;  ///< the GGN is of so many samples, the first; 0: of all
  double by_parameter = 0;       ///< 1: each parameter has a GGN of its own
  double trivial = 1;  ///< 1: gradient descent with rate / damping in all other directions

  VivitStepOptions() {
    learning_rate = 0.1;
    damping = 0.1;
  }

  std::vector<Field> fields() override;
  std::vector<std::vector<Tensor>> measure(const Observation& observation) const override;

 protected:
  /// Returns what newton_step takes: one entry, or one per direction and, if trivial, one for the
  /// rest.
  virtual Tensor dampings(const Vivit& vivit, size_t group, const at::TensorOptions& like) const;
};

class VivitNewtonOptions : public CopyableOptions<VivitNewtonOptions, VivitStepOptions> {
 public:
  std::string name() const override { return "vivit_newton"; }
};

using VivitNewton = CurvatureOptimizerOf<VivitNewtonOptions>;

}  // namespace flightdeck::suite
