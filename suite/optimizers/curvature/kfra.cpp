// SPDX-License-Identifier: MIT
#include "suite/optimizers/curvature/kfra.h"

namespace flightdeck::suite {

namespace optimizers {
OptimizerEntry kfra() {
  return curvature_entry_of<KfraOptions>(
      "Gauss-Newton by Kronecker factors from a batch-averaged recursion");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
