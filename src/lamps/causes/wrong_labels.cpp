// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause wrong_labels() {
  Cause cause;
  cause.name = "wrong_labels";
  cause.sentence = "Labels do not belong to their inputs";
  cause.remedy = "Look at the samples with the largest losses and their labels";
  cause.weight = 2;
  cause.changes = {"targets"};
  // FaultBench has no sample under two labels but among copies; its share is a small guess.
  cause.lights = {{"little_learned", 0.56},
                  {"confident_mistakes", 0.52},
                  {"at_chance", 0.39},
                  {"label_conflicts", 0.15},
                  {"conflicting_labels", 0.02},
                  {"outlying_samples", 0.01}};
  return cause;
}

}  // namespace flightdeck::causes
