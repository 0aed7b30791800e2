// SPDX-License-Identifier: MIT
// Three convolutions and three dense layers for 32 x 32 colour images.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// kLastSigmoid: ReLUs, and one sigmoid in the place of the last, before the layer that classifies.
enum class Nonlinearity { kRelu, kSigmoid, kLastSigmoid };

/// Convolutions start Glorot normal, dense layers Glorot uniform, biases 0.
Model conv_3c3d(int64_t classes, Nonlinearity nonlinearity = Nonlinearity::kRelu);

}  // namespace flightdeck::suite::nets
