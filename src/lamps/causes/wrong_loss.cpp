// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause wrong_loss() {
  Cause cause;
  cause.name = "wrong_loss";
  cause.sentence = "The loss does not fit labels of classes";
  cause.remedy = "Use the cross-entropy of the outputs and the labels";
  cause.weight = 1;
  cause.lights = {{"other_loss", 0.99},
                  {"only_noise", 0.35},
                  {"outlying_samples", 0.21},
                  {"dead_layers", 0.15},
                  {"diverged", 0.14},
                  {"still_falling", 0.06}};
  return cause;
}

}  // namespace flightdeck::causes
