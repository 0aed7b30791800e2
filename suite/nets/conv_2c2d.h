// SPDX-License-Identifier: MIT
// Two convolutions and two dense layers for 28 x 28 grey images, ten classes.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Weights start as truncated normal values of sigma 0.05, biases at 0.05. All layers but the last
/// have their width divided by `divisor`, up to 32: small nets of the same depth.
Model conv_2c2d(int64_t divisor = 1);

}  // namespace flightdeck::suite::nets
