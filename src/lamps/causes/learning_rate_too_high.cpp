// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause learning_rate_too_high() {
  Cause cause;
  cause.name = "learning_rate_too_high";
  cause.sentence = "The learning rate is too high";
  cause.remedy = "Divide the learning rate by ten";
  cause.weight = 3;
  cause.lights = {{"diverged", 0.78},
                  {"large_updates", 0.22},
                  {"long_steps", 0.22},
                  {"loss_grew", 0.22},
                  {"outlying_samples", 0.18},
                  {"loss_spikes", 0.11},
                  {"dead_layers", 0.08},
                  {"still_falling", 0.05}};
  return cause;
}

}  // namespace flightdeck::causes
