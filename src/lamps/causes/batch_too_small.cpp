// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause batch_too_small() {
  Cause cause;
  cause.name = "batch_too_small";
  cause.sentence = "The batch is too small";
  cause.remedy = "Take larger batches, or accumulate gradients";
  cause.weight = 1;
  cause.lights = {{"still_falling", 0.48},
                  {"only_noise", 0.4},
                  {"noisy_gradients", 0.34},
                  {"outlying_samples", 0.21},
                  {"dead_layers", 0.15},
                  {"one_class", 0.15},
                  {"sorted_batches", 0.15}};
  return cause;
}

}  // namespace flightdeck::causes
