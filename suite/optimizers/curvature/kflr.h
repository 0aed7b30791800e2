// SPDX-License-Identifier: MIT
// KFLR: Kronecker factors of the GGN from the exact Hessian of the loss.
#pragma once

#include "suite/optimizers/curvature/kronecker.h"

namespace flightdeck::suite {

class KflrOptions : public CopyableOptions<KflrOptions, KroneckerOptions> {
 public:
  std::string name() const override { return "kflr"; }

 protected:
  CurvatureNeed need() const override { return CurvatureNeed::kKflr; }
  const KroneckerFactors& factors(const ParameterCurvature& answers) const override {
    return answers.kflr;
  }
};

using Kflr = CurvatureOptimizerOf<KflrOptions>;

}  // namespace flightdeck::suite
