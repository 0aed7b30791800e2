// SPDX-License-Identifier: MIT
#include "suite/optimizers/curvature/hbp_pch_clip.h"

namespace flightdeck::suite {

namespace optimizers {
OptimizerEntry hbp_pch_clip() {
  return curvature_entry_of<HbpPchClipOptions>(
      "Newton-CG with the positive-curvature Hessian, clipped");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
