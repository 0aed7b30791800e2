// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause learning_rate_too_high() {
  Cause cause;
  cause.name = "learning_rate_too_high";
  cause.sentence = "The learning rate is too high";
  cause.remedy = "Divide the learning rate by ten";
  cause.weight = 3;
  cause.changes = {"learning_rate"};
  cause.factor = 0.1;
  // Rates of FaultBench are 30 times too high and more. Milder rates are more common, so breaking
  // at once counts as less usual than there. Steps that are too long for a while, which FaultBench
  // does not have, count as usual.
  cause.lights = {{"overwritten_start", 0.7},
                  {"long_steps", 0.6},
                  {"loss_grew", 0.5},
                  {"diverged", 0.4},
                  {"large_updates", 0.35},
                  {"at_chance", 0.2},
                  {"dead_layers", 0.2},
                  {"large_start", 0.2},
                  {"silent_layers", 0.2},
                  {"uneven_activations", 0.2},
                  {"unchanged_parameters", 0.09}};
  return cause;
}

}  // namespace flightdeck::causes
