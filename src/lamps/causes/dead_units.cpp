// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause dead_units() {
  Cause cause;
  cause.name = "dead_units";
  cause.sentence = "Most units of a layer are dead";
  cause.remedy = "Begin with biases of 0, and lower the learning rate; a leaky relu recovers";
  cause.weight = 1;
  cause.lights = {{"dead_layers", 0.98},
                  {"at_chance", 0.74},
                  {"silent_layers", 0.74},
                  {"only_noise", 0.69},
                  {"unchanged_parameters", 0.63},
                  {"outlying_samples", 0.18},
                  {"still_falling", 0.05}};
  return cause;
}

}  // namespace flightdeck::causes
