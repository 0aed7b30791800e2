// SPDX-License-Identifier: MIT
// Logistic regression on 28 x 28 grey images, ten classes.
#pragma once

#include "suite/problem.h"

namespace flightdeck::suite::nets {

/// Weights and biases start at 0, so the first loss is ln 10.
Model logreg();

}  // namespace flightdeck::suite::nets
