// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause over_regularised() {
  Cause cause;
  cause.name = "over_regularised";
  cause.sentence = "Penalty or weight decay is too strong";
  cause.remedy = "Divide weight decay or penalty by ten";
  cause.weight = 1;
  cause.lights = {{"shrinking_parameters", 0.97},
                  {"at_chance", 0.7},
                  {"only_noise", 0.51},
                  {"dead_layers", 0.41},
                  {"large_updates", 0.41},
                  {"vanishing_gradients", 0.41}};
  return cause;
}

}  // namespace flightdeck::causes
