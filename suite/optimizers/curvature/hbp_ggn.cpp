// SPDX-License-Identifier: MIT
#include "suite/optimizers/curvature/hbp_ggn.h"

namespace flightdeck::suite {

namespace optimizers {
OptimizerEntry hbp_ggn() {
  return curvature_entry_of<HbpGgnOptions>("Newton-CG with the blocks of the GGN");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
