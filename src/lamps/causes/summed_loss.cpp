// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause summed_loss() {
  Cause cause;
  cause.name = "summed_loss";
  cause.sentence = "The losses are summed, not averaged";
  cause.remedy = "Take the mean of the losses";
  cause.weight = 1;
  cause.lights = {{"summed_losses", 0.99},
                  {"diverged", 0.4},
                  {"large_updates", 0.3},
                  {"long_steps", 0.3},
                  {"loss_grew", 0.3}};
  return cause;
}

}  // namespace flightdeck::causes
