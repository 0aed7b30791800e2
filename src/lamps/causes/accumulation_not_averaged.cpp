// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause accumulation_not_averaged() {
  Cause cause;
  cause.name = "accumulation_not_averaged";
  cause.sentence = "Accumulated gradients are not averaged";
  cause.remedy = "Divide the loss of every pass by the number of passes between two updates";
  cause.weight = 1;
  cause.lights = {{"summed_gradients", 0.98}, {"only_noise", 0.5}, {"dead_layers", 0.15}};
  return cause;
}

}  // namespace flightdeck::causes
