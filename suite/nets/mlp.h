// SPDX-License-Identifier: MIT
// The multi-layer perceptron 784-1000-500-100-10.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Weights start as truncated normal values of sigma 0.03, biases at 0.
Model mlp();

}  // namespace flightdeck::suite::nets
