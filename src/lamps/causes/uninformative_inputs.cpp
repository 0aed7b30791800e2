// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause uninformative_inputs() {
  Cause cause;
  cause.name = "uninformative_inputs";
  cause.sentence = "The inputs say nothing about the labels";
  cause.remedy = "Look at a batch as it enters the model";
  cause.weight = 1;
  cause.lights = {{"constant_features", 0.96},
                  {"still_falling", 0.42},
                  {"at_chance", 0.31},
                  {"outlying_samples", 0.18},
                  {"dead_layers", 0.13},
                  {"duplicated_samples", 0.13},
                  {"same_batch", 0.13},
                  {"unchanged_parameters", 0.13}};
  return cause;
}

}  // namespace flightdeck::causes
