// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause vanishing_gradients() {
  Cause cause;
  cause.name = "vanishing_gradients";
  cause.sentence = "The gradient vanishes on its way to the first layers";
  cause.remedy = "Use relu, shortcuts or normalisation";
  cause.weight = 1;
  cause.lights = {{"vanishing_gradients", 0.98},
                  {"at_chance", 0.79},
                  {"only_noise", 0.64},
                  {"outlying_samples", 0.21},
                  {"silent_layers", 0.17},
                  {"still_falling", 0.06}};
  return cause;
}

}  // namespace flightdeck::causes
