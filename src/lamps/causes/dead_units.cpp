// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause dead_units() {
  Cause cause;
  cause.name = "dead_units";
  cause.sentence = "Most units of a layer are dead";
  cause.remedy = "Begin with biases of 0, and lower the learning rate; a leaky relu recovers";
  cause.weight = 1;
  cause.changes = {"initialisation"};
  cause.lights = {{"at_chance", 0.96},
                  {"dead_layers", 0.96},
                  {"silent_layers", 0.96},
                  {"slow_steps", 0.96},
                  {"unchanged_parameters", 0.96},
                  {"uneven_activations", 0.08},
                  {"outlying_samples", 0.02},
                  {"still_falling", 0.01}};
  return cause;
}

}  // namespace flightdeck::causes
