// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause weights_too_large() {
  Cause cause;
  cause.name = "weights_too_large";
  cause.sentence = "The weights begin too large";
  cause.remedy = "Begin with weights of variance 2 / inputs";
  cause.weight = 1;
  cause.changes = {"initialisation"};
  cause.lights = {{"high_first_loss", 0.98},
                  {"large_start", 0.6},
                  {"at_chance", 0.56},
                  {"uneven_activations", 0.4},
                  {"overwritten_start", 0.3},
                  {"loss_grew", 0.28},
                  {"dead_layers", 0.14},
                  {"diverged", 0.14},
                  {"silent_layers", 0.14},
                  {"small_updates", 0.14},
                  {"unchanged_parameters", 0.14},
                  {"exploding_gradients", 0.09},
                  {"little_learned", 0.09}};
  return cause;
}

}  // namespace flightdeck::causes
