// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause gradients_not_cleared() {
  Cause cause;
  cause.name = "gradients_not_cleared";
  cause.sentence = "Gradients of earlier steps are not cleared";
  cause.remedy = "Call zero_grad() before every backward pass";
  cause.weight = 1;
  cause.lights = {{"stale_gradients", 0.98},
                  {"only_noise", 0.39},
                  {"long_steps", 0.3},
                  {"loss_grew", 0.3},
                  {"dead_layers", 0.27},
                  {"silent_layers", 0.26},
                  {"uneven_activations", 0.26},
                  {"diverged", 0.15}};
  return cause;
}

}  // namespace flightdeck::causes
