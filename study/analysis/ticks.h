// SPDX-License-Identifier: MIT
// Round numbers for the marks of an axis.
#pragma once

#include <vector>

namespace flightdeck::study {

// Multiples of 1, 2 or 5 times a power of ten in [low, high], about `count` of them.
std::vector<double> ticks(double low, double high, int count);
// Powers of ten in [low, high], at most about `count`.
std::vector<double> log_ticks(double low, double high, int count);

}  // namespace flightdeck::study
