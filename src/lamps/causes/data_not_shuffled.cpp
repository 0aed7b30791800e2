// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause data_not_shuffled() {
  Cause cause;
  cause.name = "data_not_shuffled";
  cause.sentence = "The data are not shuffled";
  cause.remedy = "Shuffle the data before every epoch";
  cause.weight = 1;
  cause.changes = {"shuffling"};
  cause.lights = {{"one_class", 0.9},
                  {"sorted_batches", 0.9},
                  {"still_falling", 0.52},
                  {"overwritten_start", 0.3},
                  {"confident_mistakes", 0.2},
                  {"dead_layers", 0.2},
                  {"little_learned", 0.2},
                  {"outlying_samples", 0.05}};
  return cause;
}

}  // namespace flightdeck::causes
