// SPDX-License-Identifier: MIT
#include "study/statistics.h"

#include <cmath>
#include <limits>

namespace flightdeck::study {

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  spread.count = static_cast<int64_t>(values.size());
  if (values.empty()) {
    spread.mean = spread.deviation = std::numeric_limits<double>::quiet_NaN();
    return spread;
  }
  const double count = static_cast<double>(values.size());
  for (const double value : values) spread.mean += value / count;
  double square = 0;
  for (const double value : values) square += std::pow(value - spread.mean, 2) / count;
  spread.deviation = std::sqrt(square);
  return spread;
}

}  // namespace flightdeck::study
