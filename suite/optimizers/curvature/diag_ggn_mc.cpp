// SPDX-License-Identifier: MIT
#include "suite/optimizers/curvature/diag_ggn_mc.h"

namespace flightdeck::suite {

namespace optimizers {
OptimizerEntry diag_ggn_mc() {
  return curvature_entry_of<DiagGgnMcOptions>("gradient divided by a sampled diagonal of the GGN");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
