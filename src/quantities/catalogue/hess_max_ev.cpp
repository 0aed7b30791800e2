// SPDX-License-Identifier: MIT
// Largest eigenvalue of the Hessian: the loss surface's sharpest direction.
#include "quantities/extreme_eigenvalue.h"

namespace flightdeck::quantities {

Quantity hess_max_ev(Settings& settings) {
  Quantity quantity("hess_max_ev");
  quantity.summary("Largest eigenvalue of the Hessian (or GGN) of the mini-batch loss")
      .reference("C.3.6, equation C.34; the algebraically largest one");
  set_extreme_eigenvalue(quantity, settings, SpectrumEnd::kLargest);
  return quantity;
}

}  // namespace flightdeck::quantities
