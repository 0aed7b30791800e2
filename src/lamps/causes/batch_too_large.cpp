// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause batch_too_large() {
  Cause cause;
  cause.name = "batch_too_large";
  cause.sentence = "The batch is larger than it needs to be";
  cause.remedy = "Take batches of a quarter of the size: as many steps cost less";
  cause.weight = 0.5;
  cause.changes = {"batch_size"};
  cause.factor = 0.25;
  cause.lights = {{"large_share_of_data", 0.96}, {"quiet_gradients", 0.2}, {"still_falling", 0.01}};
  return cause;
}

}  // namespace flightdeck::causes
