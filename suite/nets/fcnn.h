// SPDX-License-Identifier: MIT
// The fully connected network 3072-1024-512-256-128-64-32-16-10 with sigmoids.
#pragma once

#include <cstdint>
#include <vector>

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Weights start Glorot uniform, biases at 0. Other widths, the input's first, make smaller nets.
Model fcnn(const std::vector<int64_t>& widths = {3072, 1024, 512, 256, 128, 64, 32, 16, 10});

}  // namespace flightdeck::suite::nets
