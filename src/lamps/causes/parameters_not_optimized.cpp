// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause parameters_not_optimized() {
  Cause cause;
  cause.name = "parameters_not_optimized";
  cause.sentence = "Some parameters are not in the optimizer";
  cause.remedy = "Make the optimizer of all parameters of the model";
  cause.weight = 1;
  cause.changes = {"all_parameters"};
  cause.lights = {{"left_out_of_optimizer", 0.96},
                  {"unchanged_parameters", 0.96},
                  {"at_chance", 0.12},
                  {"confident_mistakes", 0.12},
                  {"little_learned", 0.12},
                  {"still_falling", 0.09}};
  return cause;
}

}  // namespace flightdeck::causes
