// SPDX-License-Identifier: MIT
// Four convolutions and three dense layers with sigmoids for 32 x 32 colour images, 10 classes.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// All parameters start as LibTorch's layers do.
Model conv_4c3d();

}  // namespace flightdeck::suite::nets
