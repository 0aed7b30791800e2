// SPDX-License-Identifier: MIT
// Four convolutions and three dense layers with sigmoids for 32 x 32 colour images, 10 classes.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// All parameters start as LibTorch's layers do. All layers but the last have their width divided
/// by `divisor`, up to 16: small nets of the same depth.
Model conv_4c3d(int64_t divisor = 1);

}  // namespace flightdeck::suite::nets
