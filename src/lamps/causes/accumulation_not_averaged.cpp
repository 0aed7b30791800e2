// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause accumulation_not_averaged() {
  Cause cause;
  cause.name = "accumulation_not_averaged";
  cause.sentence = "Accumulated gradients are not averaged";
  cause.remedy = "Divide the loss of every pass by the number of passes between two updates";
  cause.weight = 1;
  cause.changes = {"mean_of_passes"};
  cause.lights = {{"summed_gradients", 0.97},
                  {"overwritten_start", 0.22},
                  {"diverged", 0.11},
                  {"loss_grew", 0.11},
                  {"still_falling", 0.06}};
  return cause;
}

}  // namespace flightdeck::causes
