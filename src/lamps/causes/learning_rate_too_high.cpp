// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause learning_rate_too_high() {
  Cause cause;
  cause.name = "learning_rate_too_high";
  cause.sentence = "The learning rate is too high";
  cause.remedy = "Divide the learning rate by ten";
  cause.weight = 3;
  cause.lights = {{"diverged", 0.55},
                  {"large_updates", 0.45},
                  {"long_steps", 0.45},
                  {"loss_grew", 0.45},
                  {"loss_spikes", 0.22},
                  {"dead_layers", 0.15}};
  return cause;
}

}  // namespace flightdeck::causes
