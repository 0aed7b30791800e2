// SPDX-License-Identifier: MIT
// Numbers that depend on the order of values alone.
#pragma once

#include <vector>

namespace flightdeck {

// The value below which `share` in [0, 1] of the values lie, interpolated linearly between the two
// nearest. Infinite values are allowed. Not a number where there are none.
double percentile(std::vector<double> values, double share);

// The middle one, or the mean of the two in the middle. Not a number where there are none.
double median(std::vector<double> values);

}  // namespace flightdeck
