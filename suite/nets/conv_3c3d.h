// SPDX-License-Identifier: MIT
// Three convolutions and three dense layers for 32 x 32 colour images.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// kLastSigmoid has ReLUs, but one sigmoid as the last, before the layer that classifies.
enum class Nonlinearity { kRelu, kSigmoid, kLastSigmoid };

/// Convolutions start Glorot normal, dense layers Glorot uniform, biases 0. All layers but the last
/// have their width divided by `divisor`, up to 32: small nets of the same depth.
Model conv_3c3d(int64_t classes,
                Nonlinearity nonlinearity = Nonlinearity::kRelu,
                int64_t divisor = 1);

}  // namespace flightdeck::suite::nets
