// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause saturated_activations() {
  Cause cause;
  cause.name = "saturated_activations";
  cause.sentence = "Activations are saturated";
  cause.remedy = "Use relu, or begin with smaller weights";
  cause.weight = 1;
  cause.lights = {{"saturated_layers", 0.96},
                  {"only_noise", 0.56},
                  {"vanishing_gradients", 0.11},
                  {"still_falling", 0.05}};
  return cause;
}

}  // namespace flightdeck::causes
