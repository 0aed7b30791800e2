// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause numeric_underflow() {
  Cause cause;
  cause.name = "numeric_underflow";
  cause.sentence = "Gradients are too small for their type";
  cause.remedy =
      "Multiply the loss by more before backward() and divide the gradients by it before the "
      "update, or take a type with a wider range";
  cause.weight = 1;
  cause.changes = {"loss_scale"};
  cause.lights = {{"underflow", 0.96},
                  {"unchanged_parameters", 0.41},
                  {"at_chance", 0.37},
                  {"still_falling", 0.33},
                  {"little_learned", 0.23},
                  {"dead_layers", 0.19},
                  {"loss_grew", 0.19},
                  {"silent_layers", 0.19},
                  {"uneven_activations", 0.19},
                  {"loss_spikes", 0.15}};
  return cause;
}

}  // namespace flightdeck::causes
