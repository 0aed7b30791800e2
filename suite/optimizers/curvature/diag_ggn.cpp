// SPDX-License-Identifier: MIT
#include "suite/optimizers/curvature/diag_ggn.h"

namespace flightdeck::suite {

namespace optimizers {
OptimizerEntry diag_ggn() {
  return curvature_entry_of<DiagGgnOptions>("gradient divided by the exact diagonal of the GGN");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
