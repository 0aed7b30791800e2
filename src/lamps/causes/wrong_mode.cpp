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
  // Either from the first step on, which batch norm shows, or after an evaluation, which dropout
  // does: each fault weighs the same.
  cause.lights = {{"outlying_samples", 0.78},
                  {"evaluation_mode", 0.43},
                  {"dropout_off", 0.41},
                  {"still_falling", 0.05}};
  return cause;
}

}  // namespace flightdeck::causes
