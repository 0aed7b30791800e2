// SPDX-License-Identifier: MIT
// The fully connected network 3072-1024-512-256-128-64-32-16-10 with sigmoids.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Weights start Glorot uniform, biases at 0.
Model fcnn();

}  // namespace flightdeck::suite::nets
