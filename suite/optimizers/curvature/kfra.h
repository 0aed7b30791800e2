// SPDX-License-Identifier: MIT
// KFRA: Kronecker factors of the GGN from one matrix that is averaged over the batch.
#pragma once

#include "suite/optimizers/curvature/kronecker.h"

namespace flightdeck::suite {

class KfraOptions : public CopyableOptions<KfraOptions, KroneckerOptions> {
 public:
  std::string name() const override { return "kfra"; }

 protected:
  CurvatureNeed need() const override { return CurvatureNeed::kKfra; }
  const KroneckerFactors& factors(const ParameterCurvature& answers) const override {
    return answers.kfra;
  }
};

using Kfra = CurvatureOptimizerOf<KfraOptions>;

}  // namespace flightdeck::suite
