// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause batch_too_small() {
  Cause cause;
  cause.name = "batch_too_small";
  cause.sentence = "The batch is too small";
  cause.remedy = "Take batches of eight times the size, or accumulate the gradients of eight";
  cause.weight = 1;
  cause.changes = {"batch_size"};
  cause.factor = 8;
  cause.lights = {{"tiny_batches", 0.93},
                  {"still_falling", 0.8},
                  {"dead_layers", 0.57},
                  {"sorted_batches", 0.5},
                  {"noisy_gradients", 0.3},
                  {"confident_mistakes", 0.07},
                  {"outlying_samples", 0.03}};
  return cause;
}

}  // namespace flightdeck::causes
