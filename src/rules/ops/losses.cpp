// SPDX-License-Identifier: MIT
// Losses per entry: individual ones keep the layout, reduced ones put the samples in the leading
// dimension of what they were reduced from.
#include "rules/families.h"

namespace flightdeck::rules {

const Rule& losses() {
  static const PointwiseLossRule rule({"BinaryCrossEntropyBackward0",
                                       "BinaryCrossEntropyWithLogitsBackward0",
                                       "HuberLossBackward0",
                                       "MseLossBackward0",
                                       "SmoothL1LossBackward0",
                                       "SoftMarginLossBackward0"});
  return rule;
}

}  // namespace flightdeck::rules
