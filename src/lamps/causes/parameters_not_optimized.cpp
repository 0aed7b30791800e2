// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause parameters_not_optimized() {
  Cause cause;
  cause.name = "parameters_not_optimized";
  cause.sentence = "Some parameters are not in the optimizer";
  cause.remedy = "Make the optimizer of all parameters of the model";
  cause.weight = 1;
  cause.lights = {{"left_out_of_optimizer", 0.99}, {"unchanged_parameters", 0.95}};
  return cause;
}

}  // namespace flightdeck::causes
