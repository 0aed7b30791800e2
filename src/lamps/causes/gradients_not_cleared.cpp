// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause gradients_not_cleared() {
  Cause cause;
  cause.name = "gradients_not_cleared";
  cause.sentence = "Gradients of earlier steps are not cleared";
  cause.remedy = "Call zero_grad() before every backward pass";
  cause.weight = 1;
  cause.changes = {"cleared_gradients"};
  cause.lights = {{"stale_gradients", 0.92},
                  {"little_learned", 0.62},
                  {"at_chance", 0.46},
                  {"uneven_activations", 0.46},
                  {"confident_mistakes", 0.31},
                  {"dead_layers", 0.31},
                  {"loss_grew", 0.31},
                  {"short_steps", 0.31},
                  {"silent_layers", 0.31},
                  {"exploding_gradients", 0.15},
                  {"large_updates", 0.15},
                  {"loss_spikes", 0.15},
                  {"overwritten_start", 0.15},
                  {"still_falling", 0.02}};
  return cause;
}

}  // namespace flightdeck::causes
