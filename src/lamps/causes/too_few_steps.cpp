// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause too_few_steps() {
  Cause cause;
  cause.name = "too_few_steps";
  cause.sentence = "The training ended too early";
  cause.remedy = "Train for at least twice as many steps";
  cause.weight = 1;
  cause.lights = {{"still_falling", 0.39}, {"outlying_samples", 0.21}, {"only_noise", 0.07}};
  return cause;
}

}  // namespace flightdeck::causes
