// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause repeated_batch() {
  Cause cause;
  cause.name = "repeated_batch";
  cause.sentence = "The same batch comes again and again";
  cause.remedy = "Make the iterator over the data once, outside of the loop";
  cause.weight = 1;
  cause.changes = {"data"};
  cause.lights = {{"same_batch", 0.92},
                  {"short_steps", 0.54},
                  {"outlying_samples", 0.27},
                  {"noisy_gradients", 0.08}};
  return cause;
}

}  // namespace flightdeck::causes
