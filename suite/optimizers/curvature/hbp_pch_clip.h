// SPDX-License-Identifier: MIT
// HBP with the positive-curvature Hessian that drops what is negative.
#pragma once

#include "suite/optimizers/curvature/hbp.h"

namespace flightdeck::suite {

class HbpPchClipOptions : public CopyableOptions<HbpPchClipOptions, HbpOptions> {
 public:
  std::string name() const override { return "hbp_pch_clip"; }

 protected:
  CurvatureKind kind() const override { return CurvatureKind::kPchClip; }
};

using HbpPchClip = CurvatureOptimizerOf<HbpPchClipOptions>;

}  // namespace flightdeck::suite
