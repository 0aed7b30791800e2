// SPDX-License-Identifier: MIT
// VGG with 16 or 19 layers on images that are enlarged to 224 x 224.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Smaller nets of the same depth: all layers but the last have their width divided by `divisor`,
/// up to 64, and images are brought to `side` x `side`, a multiple of 32.
struct VggSize {
  int64_t divisor = 1, side = 224;
};

/// Makes a VGG; `layers` is 16 or 19: convolutions and dense layers together.
Model vgg(int64_t layers, int64_t classes, const VggSize& size = {});

}  // namespace flightdeck::suite::nets
