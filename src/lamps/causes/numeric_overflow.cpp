// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause numeric_overflow() {
  Cause cause;
  cause.name = "numeric_overflow";
  cause.sentence = "Numbers leave the range of their type";
  cause.remedy =
      "Guard the operation that does: log_softmax instead of log(softmax), a smaller loss scale";
  cause.weight = 1;
  cause.lights = {{"diverged", 0.96},
                  {"overflow", 0.84},
                  {"other_loss", 0.43},
                  {"outlying_samples", 0.21},
                  {"only_noise", 0.07},
                  {"still_falling", 0.06}};
  return cause;
}

}  // namespace flightdeck::causes
