// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause batch_too_small() {
  Cause cause;
  cause.name = "batch_too_small";
  cause.sentence = "The batch is too small";
  cause.remedy = "Take larger batches, or accumulate gradients";
  cause.weight = 1;
  cause.lights = {{"noisy_gradients", 0.6}, {"only_noise", 0.45}, {"one_class", 0.26}};
  return cause;
}

}  // namespace flightdeck::causes
