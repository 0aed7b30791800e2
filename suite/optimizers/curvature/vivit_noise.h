// SPDX-License-Identifier: MIT
// ViViT's Newton step with a damping of its own for every direction, from the noise of slopes and
// curvatures along it; all other directions have the damping alone.
#pragma once

#include "suite/optimizers/curvature/vivit_newton.h"

namespace flightdeck::suite {

class VivitNoiseOptions : public CopyableOptions<VivitNoiseOptions, VivitStepOptions> {
 public:
  double caution = 1;  ///< standard errors of the curvature that are added to it

  std::string name() const override { return "vivit_noise"; }
  std::vector<Field> fields() override;

 protected:
  Tensor dampings(const Vivit& vivit, size_t group, const at::TensorOptions& like) const override;
};

using VivitNoise = CurvatureOptimizerOf<VivitNoiseOptions>;

}  // namespace flightdeck::suite
