// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause class_imbalance() {
  Cause cause;
  cause.name = "class_imbalance";
  cause.sentence = "One class rules the data";
  cause.remedy = "Weight the classes in the loss, or draw them equally often";
  cause.weight = 1;
  cause.lights = {
      {"one_class", 0.98}, {"dead_layers", 0.13}, {"only_noise", 0.06}, {"still_falling", 0.05}};
  return cause;
}

}  // namespace flightdeck::causes
