// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause over_regularised() {
  Cause cause;
  cause.name = "over_regularised";
  cause.sentence = "Penalty or weight decay is too strong";
  cause.remedy = "Divide weight decay or penalty by ten";
  cause.weight = 1;
  cause.changes = {"regularisation"};
  cause.factor = 0.1;
  cause.lights = {{"shrinking_parameters", 0.98},
                  {"little_learned", 0.88},
                  {"at_chance", 0.72},
                  {"large_updates", 0.6},
                  {"dead_layers", 0.54},
                  {"vanishing_gradients", 0.51},
                  {"silent_layers", 0.35},
                  {"uneven_activations", 0.28},
                  {"overwritten_start", 0.19},
                  {"still_falling", 0.08},
                  {"outlying_samples", 0.01}};
  return cause;
}

}  // namespace flightdeck::causes
