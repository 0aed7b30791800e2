// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause gradients_not_cleared() {
  Cause cause;
  cause.name = "gradients_not_cleared";
  cause.sentence = "Gradients of earlier steps are not cleared";
  cause.remedy = "Call zero_grad() before every backward pass";
  cause.weight = 1;
  cause.lights = {
      {"stale_gradients", 0.98}, {"long_steps", 0.4}, {"loss_grew", 0.4}, {"diverged", 0.2}};
  return cause;
}

}  // namespace flightdeck::causes
