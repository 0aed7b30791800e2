// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause saturated_activations() {
  Cause cause;
  cause.name = "saturated_activations";
  cause.sentence = "Activations are saturated";
  cause.remedy = "Use relu, or begin with smaller weights";
  cause.weight = 1;
  cause.changes = {"activation", "initialisation"};
  cause.lights = {{"saturated_layers", 0.96},
                  {"overwritten_start", 0.65},
                  {"large_start", 0.35},
                  {"confident_mistakes", 0.3},
                  {"at_chance", 0.22},
                  {"unchanged_parameters", 0.22},
                  {"little_learned", 0.17},
                  {"silent_layers", 0.13},
                  {"vanishing_gradients", 0.09}};
  return cause;
}

}  // namespace flightdeck::causes
