// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause too_few_steps() {
  Cause cause;
  cause.name = "too_few_steps";
  cause.sentence = "The training ended too early";
  cause.remedy = "Train for five times as many steps";
  cause.weight = 1;
  cause.changes = {"steps"};
  cause.factor = 5;
  cause.lights = {{"short_training", 0.96}, {"still_falling", 0.42}, {"outlying_samples", 0.02}};
  return cause;
}

}  // namespace flightdeck::causes
