// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause labels_out_of_range() {
  Cause cause;
  cause.name = "labels_out_of_range";
  cause.sentence = "Labels are none that the loss has";
  cause.remedy =
      "Count classes from 0, give the loss its ignore_index, and divide masks by their largest "
      "value";
  cause.weight = 1;
  cause.changes = {"targets"};
  cause.lights = {{"labels_out_of_range", 0.98},
                  {"overwritten_start", 0.73},
                  {"diverged", 0.53},
                  {"still_falling", 0.3},
                  {"loss_grew", 0.24},
                  {"large_start", 0.15},
                  {"dead_layers", 0.1},
                  {"loss_spikes", 0.1},
                  {"silent_layers", 0.1},
                  {"slow_steps", 0.1},
                  {"small_updates", 0.1},
                  {"unchanged_parameters", 0.1},
                  {"uneven_activations", 0.1}};
  return cause;
}

}  // namespace flightdeck::causes
