// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause data_not_shuffled() {
  Cause cause;
  cause.name = "data_not_shuffled";
  cause.sentence = "The data are not shuffled";
  cause.remedy = "Shuffle the data before every epoch";
  cause.weight = 1;
  cause.lights = {{"sorted_batches", 0.97}, {"one_class", 0.94}, {"still_falling", 0.28}};
  return cause;
}

}  // namespace flightdeck::causes
