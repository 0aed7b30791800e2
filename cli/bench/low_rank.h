// SPDX-License-Identifier: MIT
// Those quantities of `flightdeck bench curvature` that live on the low rank of the GGN, and what
// they compete with.
#pragma once

#include <vector>

#include "cli/bench/turns.h"

namespace flightdeck::cli {

std::vector<BenchQuantity> low_rank_quantities();

}  // namespace flightdeck::cli
