// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause bad_initialisation() {
  Cause cause;
  cause.name = "bad_initialisation";
  cause.sentence = "The weights begin at a wrong scale";
  cause.remedy = "Begin with weights of variance 2 / inputs";
  cause.weight = 1;
  cause.lights = {{"high_first_loss", 0.5},
                  {"uneven_activations", 0.5},
                  {"at_chance", 0.44},
                  {"vanishing_gradients", 0.44},
                  {"still_falling", 0.26},
                  {"dead_layers", 0.21},
                  {"unchanged_parameters", 0.2},
                  {"exploding_gradients", 0.18},
                  {"silent_layers", 0.18}};
  return cause;
}

}  // namespace flightdeck::causes
