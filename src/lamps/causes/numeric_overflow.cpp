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
  cause.changes = {"loss", "whole_samples"};
  cause.lights = {{"diverged", 0.89},
                  {"overflow", 0.86},
                  {"other_loss", 0.73},
                  {"overwritten_start", 0.11},
                  {"outlying_samples", 0.09},
                  {"vanishing_gradients", 0.08},
                  {"still_falling", 0.01}};
  return cause;
}

}  // namespace flightdeck::causes
