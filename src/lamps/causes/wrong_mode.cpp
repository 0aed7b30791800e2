// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause wrong_mode() {
  Cause cause;
  cause.name = "wrong_mode";
  cause.sentence = "The model trains in evaluation mode";
  cause.remedy = "Call train() on the model before training, and after every evaluation";
  cause.weight = 1;
  cause.changes = {"training_mode"};
  // In FaultBench the model is in evaluation mode from the first step on. Staying in it after an
  // evaluation is as usual, but few networks have dropout.
  cause.lights = {{"outlying_samples", 0.92},
                  {"evaluation_mode", 0.86},
                  {"dropout_off", 0.05},
                  {"still_falling", 0.03}};
  return cause;
}

}  // namespace flightdeck::causes
