// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause dead_units() {
  Cause cause;
  cause.name = "dead_units";
  cause.sentence = "Most units of a layer are dead";
  cause.remedy = "Begin with biases of 0, and lower the learning rate; a leaky relu recovers";
  cause.weight = 1;
  cause.lights = {{"dead_layers", 0.96},
                  {"at_chance", 0.47},
                  {"silent_layers", 0.47},
                  {"only_noise", 0.39},
                  {"unchanged_parameters", 0.25}};
  return cause;
}

}  // namespace flightdeck::causes
