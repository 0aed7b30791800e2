// SPDX-License-Identifier: MIT
// Length of the step the optimizer took.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {

Quantity update_size(Settings&) {
  return Quantity("update_size")
      .summary("L2 norm of the step the optimizer takes")
      .reference("||theta_(k+1) - theta_k||, recorded at k")
      .has_groups(true)
      .reads_numbers(true)
      .after_update([](const UpdateView& update) { return Value(update.squared_update().sqrt()); });
}

}  // namespace flightdeck::quantities
