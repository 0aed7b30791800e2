// SPDX-License-Identifier: MIT
// HBP with the positive-curvature Hessian that takes absolute values.
#pragma once

#include "suite/optimizers/curvature/hbp.h"

namespace flightdeck::suite {

class HbpPchAbsOptions : public CopyableOptions<HbpPchAbsOptions, HbpOptions> {
 public:
  std::string name() const override { return "hbp_pch_abs"; }

 protected:
  CurvatureKind kind() const override { return CurvatureKind::kPchAbs; }
};

using HbpPchAbs = CurvatureOptimizerOf<HbpPchAbsOptions>;

}  // namespace flightdeck::suite
