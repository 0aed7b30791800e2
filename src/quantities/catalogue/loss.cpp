// SPDX-License-Identifier: MIT
// Mean of the individual losses of the mini-batch.
#include "flightdeck/quantity.h"

namespace flightdeck::quantities {

Quantity loss(Settings&) {
  return Quantity("loss")
      .summary("Mini-batch loss: the mean of the individual losses, penalties left out")
      .reference("L_B")
      .light(true)
      .compute([](const StepView& step) { return Value(step.loss()); });
}

}  // namespace flightdeck::quantities
