// SPDX-License-Identifier: MIT
// Numbers that depend on the order of values alone.
#pragma once

#include <vector>

namespace flightdeck {

// Returns the value below which `share` in [0, 1] of the values lie, interpolated linearly between
// the two nearest. Infinite values are allowed. Returns not-a-number if there are no values.
double percentile(std::vector<double> values, double share);

// Returns the middle value, or the mean of the two in the middle; not-a-number if there are none.
double median(std::vector<double> values);

}  // namespace flightdeck
