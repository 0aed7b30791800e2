// SPDX-License-Identifier: MIT
#include "suite/optimizers/curvature/kfac.h"

namespace flightdeck::suite {

namespace optimizers {
OptimizerEntry kfac() {
  return curvature_entry_of<KfacOptions>(
      "natural gradient by Kronecker factors from would-be gradients");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
