// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause wrong_labels() {
  Cause cause;
  cause.name = "wrong_labels";
  cause.sentence = "Labels do not belong to their inputs";
  cause.remedy = "Look at the samples with the largest losses and their labels";
  cause.weight = 2;
  cause.lights = {{"at_chance", 0.42},
                  {"still_falling", 0.38},
                  {"label_conflicts", 0.17},
                  {"outlying_samples", 0.1}};
  return cause;
}

}  // namespace flightdeck::causes
