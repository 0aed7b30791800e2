// SPDX-License-Identifier: MIT
// The quantities of `flightdeck bench curvature`.
#pragma once

#include <vector>

#include "cli/bench/turns.h"

namespace flightdeck::cli {

// Returns them in the order they are measured by default. Each is checked once by shapes,
// finiteness and what is known of it: signs, symmetry, norms.
std::vector<BenchQuantity> second_order_quantities();

}  // namespace flightdeck::cli
