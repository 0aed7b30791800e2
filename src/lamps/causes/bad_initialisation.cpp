// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause bad_initialisation() {
  Cause cause;
  cause.name = "bad_initialisation";
  cause.sentence = "The weights begin at a wrong scale";
  cause.remedy = "Begin with weights of variance 2 / inputs";
  cause.weight = 1;
  cause.changes = {"initialisation"};
  cause.lights = {{"vanishing_gradients", 0.88},
                  {"little_learned", 0.76},
                  {"at_chance", 0.64},
                  {"dead_layers", 0.56},
                  {"unchanged_parameters", 0.36},
                  {"outlying_samples", 0.14},
                  {"silent_layers", 0.12}};
  return cause;
}

}  // namespace flightdeck::causes
