// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause learning_rate_too_high() {
  Cause cause;
  cause.name = "learning_rate_too_high";
  cause.sentence = "The learning rate is too high";
  cause.remedy = "Divide the learning rate by ten";
  cause.weight = 3;
  cause.lights = {{"large_updates", 0.6},
                  {"long_steps", 0.6},
                  {"loss_grew", 0.6},
                  {"diverged", 0.4},
                  {"loss_spikes", 0.3},
                  {"only_noise", 0.3},
                  {"dead_layers", 0.2}};
  return cause;
}

}  // namespace flightdeck::causes
