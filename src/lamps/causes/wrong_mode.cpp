// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause wrong_mode() {
  Cause cause;
  cause.name = "wrong_mode";
  cause.sentence = "The model trains in evaluation mode";
  cause.remedy = "Call train() on the model before training, and after every evaluation";
  cause.weight = 1;
  cause.lights = {{"evaluation_mode", 0.99}};
  return cause;
}

}  // namespace flightdeck::causes
