// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause vanishing_gradients() {
  Cause cause;
  cause.name = "vanishing_gradients";
  cause.sentence = "The gradient vanishes on its way to the first layers";
  cause.remedy = "Use relu, shortcuts or normalisation";
  cause.weight = 1;
  cause.lights = {{"vanishing_gradients", 0.96},
                  {"at_chance", 0.62},
                  {"only_noise", 0.39},
                  {"silent_layers", 0.3}};
  return cause;
}

}  // namespace flightdeck::causes
