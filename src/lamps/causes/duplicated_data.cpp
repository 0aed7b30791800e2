// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause duplicated_data() {
  Cause cause;
  cause.name = "duplicated_data";
  cause.sentence = "Batches hold copies of the same samples";
  cause.remedy = "Give every worker its own seed, and remove copies from the data";
  cause.weight = 1;
  cause.changes = {"data"};
  cause.lights = {{"duplicated_samples", 0.98}, {"still_falling", 0.05}};
  return cause;
}

}  // namespace flightdeck::causes
