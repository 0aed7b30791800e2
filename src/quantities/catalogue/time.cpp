// SPDX-License-Identifier: MIT
// Seconds since the cockpit was made.
#include "flightdeck/quantity.h"

namespace flightdeck::quantities {

Quantity time(Settings&) {
  return Quantity("time")
      .summary("Seconds since the start of the run")
      .reference("wall-clock time; the reference implementation stores seconds since 1970")
      .light(true)
      .gives_way(true)
      .measures_process(true)
      .compute([](const StepView& step) { return Value(step.seconds()); });
}

}  // namespace flightdeck::quantities
