// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause bad_initialisation() {
  Cause cause;
  cause.name = "bad_initialisation";
  cause.sentence = "The weights begin at a wrong scale";
  cause.remedy = "Begin with weights of variance 2 / inputs";
  cause.weight = 1;
  cause.lights = {{"only_noise", 0.58},
                  {"at_chance", 0.55},
                  {"high_first_loss", 0.5},
                  {"vanishing_gradients", 0.48},
                  {"dead_layers", 0.47},
                  {"unchanged_parameters", 0.31},
                  {"uneven_activations", 0.27},
                  {"silent_layers", 0.22},
                  {"outlying_samples", 0.19},
                  {"diverged", 0.15},
                  {"small_updates", 0.08},
                  {"exploding_gradients", 0.07}};
  return cause;
}

}  // namespace flightdeck::causes
