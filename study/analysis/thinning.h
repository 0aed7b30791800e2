// SPDX-License-Identifier: MIT
// Fewer points of a line, for figures that would be too large with all.
#pragma once

#include "study/figure.h"

namespace flightdeck::study {

// Returns about `count` points, evenly spread, with the first and the last.
Line thinned(const Line& line, size_t count);

}  // namespace flightdeck::study
