// SPDX-License-Identifier: MIT
// A Transformer encoder that classifies sequences of bytes.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Reads [N, 64] int64 tokens below 256, gives [N, 10]. Initial values are LibTorch's own.
Model transformer();

}  // namespace flightdeck::suite::nets
