// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause batch_too_large() {
  Cause cause;
  cause.name = "batch_too_large";
  cause.sentence = "The batch is larger than it needs to be";
  cause.remedy = "Take smaller batches: as many steps cost less";
  cause.weight = 0.5;
  cause.lights = {{"quiet_gradients", 0.8}};
  return cause;
}

}  // namespace flightdeck::causes
