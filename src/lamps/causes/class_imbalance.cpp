// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause class_imbalance() {
  Cause cause;
  cause.name = "class_imbalance";
  cause.sentence = "One class rules the data";
  cause.remedy = "Weight the classes in the loss, or draw them equally often";
  cause.weight = 1;
  cause.changes = {"balanced_classes"};
  cause.lights = {{"one_class", 0.97},
                  {"outlying_samples", 0.96},
                  {"overwritten_start", 0.19},
                  {"dead_layers", 0.11},
                  {"still_falling", 0.01}};
  return cause;
}

}  // namespace flightdeck::causes
