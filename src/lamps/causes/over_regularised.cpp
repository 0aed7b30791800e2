// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause over_regularised() {
  Cause cause;
  cause.name = "over_regularised";
  cause.sentence = "Penalty or weight decay is too strong";
  cause.remedy = "Divide weight decay or penalty by ten";
  cause.weight = 1;
  cause.lights = {{"shrinking_parameters", 0.99},
                  {"at_chance", 0.86},
                  {"only_noise", 0.77},
                  {"dead_layers", 0.64},
                  {"large_updates", 0.64},
                  {"vanishing_gradients", 0.64},
                  {"silent_layers", 0.18},
                  {"outlying_samples", 0.13},
                  {"still_falling", 0.04}};
  return cause;
}

}  // namespace flightdeck::causes
