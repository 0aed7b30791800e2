// SPDX-License-Identifier: MIT
#include "suite/optimizers/curvature/hbp_pch_abs.h"

namespace flightdeck::suite {

namespace optimizers {
OptimizerEntry hbp_pch_abs() {
  return curvature_entry_of<HbpPchAbsOptions>(
      "Newton-CG with the positive-curvature Hessian, absolute values");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
