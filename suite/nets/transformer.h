// SPDX-License-Identifier: MIT
// A Transformer encoder that classifies sequences of bytes.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// LibTorch's own initial values. Reads [N, 64] int64 tokens below 256, gives [N, 10].
Model transformer();

}  // namespace flightdeck::suite::nets
