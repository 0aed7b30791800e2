// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause vanishing_gradients() {
  Cause cause;
  cause.name = "vanishing_gradients";
  cause.sentence = "The gradient vanishes on its way to the first layers";
  cause.remedy = "Use relu, shortcuts or normalisation";
  cause.weight = 1;
  cause.changes = {"activation", "initialisation"};
  cause.lights = {{"vanishing_gradients", 0.95},
                  {"at_chance", 0.79},
                  {"little_learned", 0.79},
                  {"unchanged_parameters", 0.11},
                  {"outlying_samples", 0.02}};
  return cause;
}

}  // namespace flightdeck::causes
