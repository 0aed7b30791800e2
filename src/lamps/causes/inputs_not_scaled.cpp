// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause inputs_not_scaled() {
  Cause cause;
  cause.name = "inputs_not_scaled";
  cause.sentence = "The inputs are not scaled";
  cause.remedy = "Subtract the mean of the inputs and divide by their standard deviation";
  cause.weight = 2;
  cause.changes = {"scaled_inputs"};
  cause.lights = {{"unscaled_inputs", 0.99},
                  {"high_first_loss", 0.63},
                  {"at_chance", 0.55},
                  {"large_start", 0.51},
                  {"overwritten_start", 0.51},
                  {"shifted_inputs", 0.49},
                  {"dead_layers", 0.41},
                  {"little_learned", 0.29},
                  {"loss_grew", 0.29},
                  {"outlying_samples", 0.28},
                  {"uneven_activations", 0.23},
                  {"unchanged_parameters", 0.22},
                  {"silent_layers", 0.21},
                  {"large_updates", 0.11},
                  {"diverged", 0.08},
                  {"small_updates", 0.08},
                  {"still_falling", 0.06}};
  return cause;
}

}  // namespace flightdeck::causes
