// SPDX-License-Identifier: MIT
#include "base/order_statistics.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace flightdeck {

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

double median(std::vector<double> values) { return percentile(std::move(values), 0.5); }

}  // namespace flightdeck
