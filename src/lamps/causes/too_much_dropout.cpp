// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause too_much_dropout() {
  Cause cause;
  cause.name = "too_much_dropout";
  cause.sentence = "Dropout leaves out too much";
  cause.remedy = "Lower the dropout rate to 0.5 or less";
  cause.weight = 1;
  cause.lights = {{"heavy_dropout", 0.96}, {"only_noise", 0.39}, {"at_chance", 0.26}};
  return cause;
}

}  // namespace flightdeck::causes
