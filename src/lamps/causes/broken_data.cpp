// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause broken_data() {
  Cause cause;
  cause.name = "broken_data";
  cause.sentence = "Samples hold values that are not finite";
  cause.remedy = "Look at these samples, and guard divisions while normalising";
  cause.weight = 1;
  cause.changes = {"whole_samples"};
  cause.lights = {{"broken_inputs", 0.9},
                  {"diverged", 0.9},
                  {"overflow", 0.9},
                  {"outlying_samples", 0.05},
                  {"still_falling", 0.02}};
  return cause;
}

}  // namespace flightdeck::causes
