// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause learning_rate_too_low() {
  Cause cause;
  cause.name = "learning_rate_too_low";
  cause.sentence = "The learning rate is too low";
  cause.remedy = "Multiply the learning rate by ten";
  cause.weight = 3;
  cause.lights = {{"at_chance", 0.78},
                  {"short_steps", 0.21},
                  {"small_updates", 0.15},
                  {"outlying_samples", 0.11},
                  {"only_noise", 0.04}};
  return cause;
}

}  // namespace flightdeck::causes
