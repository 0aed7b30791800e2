// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause inputs_not_scaled() {
  Cause cause;
  cause.name = "inputs_not_scaled";
  cause.sentence = "The inputs are not scaled";
  cause.remedy = "Subtract the mean of the inputs and divide by their standard deviation";
  cause.weight = 2;
  cause.lights = {{"unscaled_inputs", 0.94},
                  {"high_first_loss", 0.7},
                  {"shifted_inputs", 0.44},
                  {"loss_grew", 0.38},
                  {"large_updates", 0.21},
                  {"diverged", 0.2},
                  {"long_steps", 0.18}};
  return cause;
}

}  // namespace flightdeck::causes
