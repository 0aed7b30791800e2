// SPDX-License-Identifier: MIT
// Round numbers for the marks of an axis.
#pragma once

#include <vector>

namespace flightdeck::study {

// Returns multiples of 1, 2 or 5 times a power of ten in [low, high], about `count` of them.
std::vector<double> ticks(double low, double high, int count);
// Returns powers of ten in [low, high], at most about `count`; of a short axis also 2 and 5 times
// those.
std::vector<double> log_ticks(double low, double high, int count);

}  // namespace flightdeck::study
