// SPDX-License-Identifier: MIT
#include "study/analysis/ticks.h"

#include <algorithm>
#include <cmath>

namespace flightdeck::study {

std::vector<double> ticks(double low, double high, int count) {
  if (!(high > low) || !std::isfinite(high - low)) return {low};
  const double rough = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= 0.75 * rough) {
      step = factor * power;
      break;
    }
  }
  std::vector<double> marks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) {
    marks.push_back(k == 0 ? 0 : k * step);
  }
  return marks;
}

std::vector<double> log_ticks(double low, double high, int count) {
  if (!(low > 0) || !(high > low)) return {low};
  const int first = static_cast<int>(std::ceil(std::log10(low) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  if (last < first) return {low, high};
  const int step = std::max(1, (last - first) / std::max(count, 1));
  std::vector<double> marks;
  for (int k = first; k <= last; k += step) marks.push_back(std::pow(10, k));
  if (marks.size() > 2) return marks;
  // One or two powers of ten say too little about a short axis.
  marks.clear();
  for (int k = first - 1; k <= last; ++k) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double mark = digit * std::pow(10, k);
      if (mark >= low * (1 - 1e-9) && mark <= high * (1 + 1e-9)) marks.push_back(mark);
    }
  }
  return marks;
}

}  // namespace flightdeck::study
