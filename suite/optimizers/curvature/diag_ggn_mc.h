// SPDX-License-Identifier: MIT
// DiagGGN-MC: the diagonal of the generalised Gauss-Newton matrix from would-be gradients.
#pragma once

#include "suite/optimizers/curvature/diagonal.h"

namespace flightdeck::suite {

class DiagGgnMcOptions : public CopyableOptions<DiagGgnMcOptions, DiagonalOptions> {
 public:
  std::string name() const override { return "diag_ggn_mc"; }

 protected:
  bool is_sampled() const override { return true; }
  CurvatureNeed need() const override { return CurvatureNeed::kDiagGgnMc; }
  std::vector<Tensor> kept(const ParameterCurvature& answers,
                           const NamedParameter&) const override {
    return {answers.diag_ggn_mc};
  }
};

using DiagGgnMc = CurvatureOptimizerOf<DiagGgnMcOptions>;

}  // namespace flightdeck::suite
