// SPDX-License-Identifier: MIT
// DiagGGN: the exact diagonal of the generalised Gauss-Newton matrix.
#pragma once

#include "suite/optimizers/curvature/diagonal.h"

namespace flightdeck::suite {

class DiagGgnOptions : public CopyableOptions<DiagGgnOptions, DiagonalOptions> {
 public:
  std::string name() const override { return "diag_ggn"; }

 protected:
  CurvatureNeed need() const override { return CurvatureNeed::kDiagGgn; }
  std::vector<Tensor> kept(const ParameterCurvature& answers,
                           const NamedParameter&) const override {
    return {answers.diag_ggn};
  }
};

using DiagGgn = CurvatureOptimizerOf<DiagGgnOptions>;

}  // namespace flightdeck::suite
