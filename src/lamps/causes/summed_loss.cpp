// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause summed_loss() {
  Cause cause;
  cause.name = "summed_loss";
  cause.sentence = "The losses are summed, not averaged";
  cause.remedy = "Take the mean of the losses";
  cause.weight = 1;
  cause.changes = {"mean_of_losses"};
  cause.lights = {{"summed_losses", 0.92},
                  {"overwritten_start", 0.62},
                  {"diverged", 0.46},
                  {"loss_grew", 0.46},
                  {"still_falling", 0.02}};
  return cause;
}

}  // namespace flightdeck::causes
