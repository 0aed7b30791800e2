// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause detached_branch() {
  Cause cause;
  cause.name = "detached_branch";
  cause.sentence = "A part of the model is detached from the loss";
  cause.remedy = "Look for detach(), no_grad and values taken out of the graph";
  cause.weight = 1;
  cause.changes = {"attachment"};
  cause.lights = {{"silent_layers", 0.9},
                  {"unchanged_parameters", 0.9},
                  {"unreachable_parameters", 0.9},
                  {"outlying_samples", 0.25}};
  return cause;
}

}  // namespace flightdeck::causes
