// SPDX-License-Identifier: MIT
// Wide residual networks on 32 x 32 colour images.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Makes a net of depth 6 n + 4, width 4: wide_resnet(16, C) has two residual units in each of
/// three groups.
Model wide_resnet(int64_t depth, int64_t classes);

}  // namespace flightdeck::suite::nets
