// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause missing_activation() {
  Cause cause;
  cause.name = "missing_activation";
  cause.sentence = "An activation between two layers is missing";
  cause.remedy = "Put an activation between layers that follow one another";
  cause.weight = 1;
  cause.changes = {"activation"};
  cause.lights = {{"linear_pairs", 0.9}, {"still_falling", 0.02}};
  return cause;
}

}  // namespace flightdeck::causes
