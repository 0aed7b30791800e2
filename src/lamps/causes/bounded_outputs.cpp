// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause bounded_outputs() {
  Cause cause;
  cause.name = "bounded_outputs";
  cause.sentence = "The outputs are bounded before the loss";
  cause.remedy = "Remove the activation after the last layer";
  cause.weight = 1;
  cause.changes = {"outputs"};
  cause.lights = {
      {"bounded_outputs", 0.92}, {"confident_mistakes", 0.15}, {"little_learned", 0.08}};
  return cause;
}

}  // namespace flightdeck::causes
