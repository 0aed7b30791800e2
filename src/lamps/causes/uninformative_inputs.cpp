// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause uninformative_inputs() {
  Cause cause;
  cause.name = "uninformative_inputs";
  cause.sentence = "The inputs say nothing about the labels";
  cause.remedy = "Look at a batch as it enters the model";
  cause.weight = 1;
  cause.lights = {{"constant_features", 0.93}, {"only_noise", 0.39}, {"at_chance", 0.38}};
  return cause;
}

}  // namespace flightdeck::causes
