// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause softmax_twice() {
  Cause cause;
  cause.name = "softmax_twice";
  cause.sentence = "Softmax is applied twice";
  cause.remedy = "Remove the softmax at the end of the model: the loss has one";
  cause.weight = 1;
  cause.changes = {"outputs"};
  cause.lights = {
      {"softmax_twice", 0.92}, {"at_chance", 0.31}, {"slow_steps", 0.31}, {"little_learned", 0.23}};
  return cause;
}

}  // namespace flightdeck::causes
