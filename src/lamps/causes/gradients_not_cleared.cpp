// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause gradients_not_cleared() {
  Cause cause;
  cause.name = "gradients_not_cleared";
  cause.sentence = "Gradients of earlier steps are not cleared";
  cause.remedy = "Call zero_grad() before every backward pass";
  cause.weight = 1;
  cause.lights = {{"stale_gradients", 0.99},
                  {"only_noise", 0.5},
                  {"dead_layers", 0.41},
                  {"silent_layers", 0.41},
                  {"uneven_activations", 0.41},
                  {"long_steps", 0.24},
                  {"loss_grew", 0.24},
                  {"at_chance", 0.21},
                  {"diverged", 0.12}};
  return cause;
}

}  // namespace flightdeck::causes
