// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause inputs_not_scaled() {
  Cause cause;
  cause.name = "inputs_not_scaled";
  cause.sentence = "The inputs are not scaled";
  cause.remedy = "Subtract the mean of the inputs and divide by their standard deviation";
  cause.weight = 2;
  cause.lights = {{"unscaled_inputs", 0.9},
                  {"high_first_loss", 0.5},
                  {"shifted_inputs", 0.4},
                  {"long_steps", 0.3},
                  {"loss_grew", 0.3}};
  return cause;
}

}  // namespace flightdeck::causes
