// SPDX-License-Identifier: MIT
// Quantities of `flightdeck bench curvature` that make use of the low rank of the GGN, and those
// that they compete with.
#pragma once

#include <vector>

#include "cli/bench/turns.h"

namespace flightdeck::cli {

std::vector<BenchQuantity> low_rank_quantities();

}  // namespace flightdeck::cli
