// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause learning_rate_too_low() {
  Cause cause;
  cause.name = "learning_rate_too_low";
  cause.sentence = "The learning rate is too low";
  cause.remedy = "Multiply the learning rate by ten";
  cause.weight = 3;
  cause.changes = {"learning_rate"};
  cause.factor = 10;
  cause.lights = {{"slow_steps", 0.95},
                  {"at_chance", 0.81},
                  {"confident_mistakes", 0.21},
                  {"no_progress", 0.1},
                  {"short_steps", 0.1},
                  {"small_updates", 0.1},
                  {"outlying_samples", 0.01}};
  return cause;
}

}  // namespace flightdeck::causes
