// SPDX-License-Identifier: MIT
// Size of the optimizer's step relative to the parameters, in powers of ten.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {

Quantity update_ratio(Settings&) {
  return Quantity("update_ratio")
      .summary("Logarithm to base 10 of the step's norm over the parameters' norm")
      .reference("log10(||theta_(k+1) - theta_k|| / ||theta_k||); beyond the papers")
      .has_groups(true)
      .reads_numbers(true)
      .after_update([](const UpdateView& update) {
        return Value((update.squared_update() / update.squared_parameters()).log10() / 2);
      });
}

}  // namespace flightdeck::quantities
