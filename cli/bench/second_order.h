// SPDX-License-Identifier: MIT
// The quantities of `flightdeck bench curvature`.
#pragma once

#include <vector>

#include "cli/bench/turns.h"

namespace flightdeck::cli {

// In the order they are measured by default. Checked once by shapes, finiteness and what is known
// of them: signs, symmetry, norms.
std::vector<BenchQuantity> second_order_quantities();

}  // namespace flightdeck::cli
