// SPDX-License-Identifier: MIT
// All-CNN-C: nine convolutions, no dense layer, dropout while training; 32 x 32 colour images.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Weights Glorot normal, biases 0.1. A ReLU stands after every convolution, so logits are not
/// negative. All layers but the last have their width divided by `divisor`, up to 96: small nets of
/// the same depth.
Model allcnnc(int64_t classes, int64_t divisor = 1);

}  // namespace flightdeck::suite::nets
