// SPDX-License-Identifier: MIT
#include "study/statistics.h"

#include <algorithm>
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

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const double position = share * static_cast<double>(values.size() - 1);
  const size_t below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, values.size() - 1);
  const double rest = position - static_cast<double>(below);
  // The difference of two infinities is not a number, and a rest of 0 asks for one value alone.
  if (rest == 0 || values[below] == values[above]) return values[below];
  return values[below] + rest * (values[above] - values[below]);
}

double median(const std::vector<double>& values) { return percentile(values, 0.5); }

}  // namespace flightdeck::study
