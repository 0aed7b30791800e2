// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause inputs_not_scaled() {
  Cause cause;
  cause.name = "inputs_not_scaled";
  cause.sentence = "The inputs are not scaled";
  cause.remedy = "Subtract the mean of the inputs and divide by their standard deviation";
  cause.weight = 2;
  cause.lights = {{"unscaled_inputs", 0.98},
                  {"high_first_loss", 0.5},
                  {"shifted_inputs", 0.48},
                  {"only_noise", 0.42},
                  {"at_chance", 0.31},
                  {"dead_layers", 0.31},
                  {"diverged", 0.31},
                  {"outlying_samples", 0.19},
                  {"silent_layers", 0.16},
                  {"uneven_activations", 0.16},
                  {"loss_grew", 0.15},
                  {"unchanged_parameters", 0.15},
                  {"large_updates", 0.08}};
  return cause;
}

}  // namespace flightdeck::causes
