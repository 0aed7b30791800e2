// SPDX-License-Identifier: MIT
// HBP with the blocks of the generalised Gauss-Newton matrix.
#pragma once

#include "suite/optimizers/curvature/hbp.h"

namespace flightdeck::suite {

class HbpGgnOptions : public CopyableOptions<HbpGgnOptions, HbpOptions> {
 public:
  std::string name() const override { return "hbp_ggn"; }

 protected:
  CurvatureKind kind() const override { return CurvatureKind::kGgn; }
};

using HbpGgn = CurvatureOptimizerOf<HbpGgnOptions>;

}  // namespace flightdeck::suite
