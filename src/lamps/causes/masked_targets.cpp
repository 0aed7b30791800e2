// SPDX-License-Identifier: MIT
#include "flightdeck/diagnosis.h"

namespace flightdeck::causes {

Cause masked_targets() {
  Cause cause;
  cause.name = "masked_targets";
  cause.sentence = "Most targets are masked";
  cause.remedy = "Look at the targets as they enter the loss, and mask less";
  cause.weight = 1;
  cause.changes = {"targets"};
  cause.lights = {{"ignored_targets", 0.9}, {"still_falling", 0.12}, {"outlying_samples", 0.05}};
  return cause;
}

}  // namespace flightdeck::causes
