// SPDX-License-Identifier: MIT
// Means, spreads and order statistics of a few numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace flightdeck::study {

struct Spread {
  double mean = 0;
  double deviation = 0;  ///< of the population: the mean square is divided by `count`
  int64_t count = 0;
};

/// Not a number where there are no values.
Spread spread_of(const std::vector<double>& values);

/// The value below which `share` in [0, 1] of the values lie, interpolated linearly between the two
/// nearest; infinite values are allowed. Not a number where there are none.
double percentile(std::vector<double> values, double share);
double median(const std::vector<double>& values);

}  // namespace flightdeck::study
