// SPDX-License-Identifier: MIT
// Smallest eigenvalue of the Hessian: how strongly the loss surface bends down, if it does.
#include "quantities/extreme_eigenvalue.h"

namespace flightdeck::quantities {

Quantity hess_min_ev(Settings& settings) {
  Quantity quantity("hess_min_ev");
  quantity.summary("Smallest eigenvalue of the Hessian (or GGN) of the mini-batch loss")
      .reference("lower end of the spectrum of C.3.6; beyond the papers");
  set_extreme_eigenvalue(quantity, settings, SpectrumEnd::kSmallest);
  return quantity;
}

}  // namespace flightdeck::quantities
