// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause bounded_outputs() {
  Cause cause;
  cause.name = "bounded_outputs";
  cause.sentence = "The outputs are bounded before the loss";
  cause.remedy = "Remove the activation after the last layer";
  cause.weight = 1;
  cause.lights = {{"bounded_outputs", 0.99}, {"still_falling", 0.48}};
  return cause;
}

}  // namespace flightdeck::causes
