// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause broken_data() {
  Cause cause;
  cause.name = "broken_data";
  cause.sentence = "Samples hold values that are not finite";
  cause.remedy = "Look at these samples, and guard divisions while normalising";
  cause.weight = 1;
  cause.lights = {{"diverged", 0.97}, {"overflow", 0.94}, {"broken_inputs", 0.54}};
  return cause;
}

}  // namespace flightdeck::causes
