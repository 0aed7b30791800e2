// SPDX-License-Identifier: MIT
#include "suite/optimizers/curvature/kflr.h"

namespace flightdeck::suite {

namespace optimizers {
OptimizerEntry kflr() {
  return curvature_entry_of<KflrOptions>(
      "Gauss-Newton by Kronecker factors from the exact loss Hessian");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
