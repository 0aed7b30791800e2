// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause masked_targets() {
  Cause cause;
  cause.name = "masked_targets";
  cause.sentence = "Most targets are masked";
  cause.remedy = "Look at the targets as they enter the loss, and mask less";
  cause.weight = 1;
  cause.lights = {{"ignored_targets", 0.96}};
  return cause;
}

}  // namespace flightdeck::causes
