// SPDX-License-Identifier: MIT
// Means and spreads of a few numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "src/base/order_statistics.h"

namespace flightdeck::study {

struct Spread {
  double mean = 0;
  double deviation = 0;  // of the population: the mean square is divided by `count`
  int64_t count = 0;
};

// Has no numbers (NaN) where there are no values.
Spread spread_of(const std::vector<double>& values);

}  // namespace flightdeck::study
