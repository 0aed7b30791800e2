// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause uninformative_inputs() {
  Cause cause;
  cause.name = "uninformative_inputs";
  cause.sentence = "The inputs say nothing about the labels";
  cause.remedy = "Look at a batch as it enters the model";
  cause.weight = 1;
  cause.changes = {"data"};
  cause.lights = {{"constant_features", 0.98},
                  {"little_learned", 0.59},
                  {"duplicated_samples", 0.39},
                  {"still_falling", 0.35},
                  {"same_batch", 0.31},
                  {"conflicting_labels", 0.2},
                  {"at_chance", 0.2},
                  {"unchanged_parameters", 0.18},
                  {"confident_mistakes", 0.16},
                  {"dead_layers", 0.16},
                  {"outlying_samples", 0.01}};
  return cause;
}

}  // namespace flightdeck::causes
