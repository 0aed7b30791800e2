// SPDX-License-Identifier: MIT
// KFAC: Kronecker factors of the GGN from would-be gradients.
#pragma once

#include "suite/optimizers/curvature/kronecker.h"

namespace flightdeck::suite {

class KfacOptions : public CopyableOptions<KfacOptions, KroneckerOptions> {
 public:
  std::string name() const override { return "kfac"; }

 protected:
  bool is_sampled() const override { return true; }
  CurvatureNeed need() const override { return CurvatureNeed::kKfac; }
  const KroneckerFactors& factors(const ParameterCurvature& answers) const override {
    return answers.kfac;
  }
};

using Kfac = CurvatureOptimizerOf<KfacOptions>;

}  // namespace flightdeck::suite
