// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause learning_rate_too_low() {
  Cause cause;
  cause.name = "learning_rate_too_low";
  cause.sentence = "The learning rate is too low";
  cause.remedy = "Multiply the learning rate by ten";
  cause.weight = 3;
  cause.lights = {{"short_steps", 0.54}, {"at_chance", 0.44}, {"small_updates", 0.18}};
  return cause;
}

}  // namespace flightdeck::causes
