// SPDX-License-Identifier: MIT
#include "suite/optimizers/curvature/vivit_noise.h"

namespace flightdeck::suite {

std::vector<Field> VivitNoiseOptions::fields() {
  std::vector<Field> all = VivitStepOptions::fields();
  all.push_back(
      not_negative("caution", "standard errors of the curvature that are added to it", caution));
  return all;
}

Tensor VivitNoiseOptions::dampings(const Vivit& vivit,
                                   size_t group,
                                   const at::TensorOptions& like) const {
  NoiseDampingOptions options;
  options.damping = damping;
  options.caution = caution;
  const Tensor each = noise_damping(vivit.gammas(-1, group), vivit.lambdas(-1, group), options);
  if (trivial == 0) return each;
  return at::cat({each, VivitStepOptions::dampings(vivit, group, like).to(each.options())});
}

namespace optimizers {
OptimizerEntry vivit_noise() {
  return curvature_entry_of<VivitNoiseOptions>(
      "Newton step in the eigenspace of the GGN, damped by the noise of every direction");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
