// SPDX-License-Identifier: MIT
// All-CNN-C: nine convolutions, no dense layer, dropout while training; 32 x 32 colour images.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Weights Glorot normal, biases 0.1. A ReLU stands after every convolution, so logits are not
/// negative.
Model allcnnc(int64_t classes);

}  // namespace flightdeck::suite::nets
