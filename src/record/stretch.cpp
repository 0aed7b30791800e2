// SPDX-License-Identifier: MIT
#include "record/stretch.h"

#include <cmath>
#include <limits>

namespace flightdeck::record {

NumberStretch stretch_of(int64_t step, double value, ReadingKind kind) {
  const bool is_number = kind == ReadingKind::kNumber;
  if (!is_number) value = std::numeric_limits<double>::quiet_NaN();
  const int64_t not_a_number = is_number && std::isnan(value) ? 1 : 0;
  return {step, step, 1, not_a_number, value, value, value, value, step, step};
}

void join(NumberStretch& stretch, const NumberStretch& next) {
  if (next.count == 0) return;
  if (stretch.count == 0) {
    stretch = next;
    return;
  }
  stretch.last_step = next.last_step;
  stretch.last = next.last;
  stretch.count += next.count;
  stretch.not_a_number += next.not_a_number;
  // Comparisons with NaN are false, so nothing is taken from a side without numbers.
  if (next.min < stretch.min || (std::isnan(stretch.min) && !std::isnan(next.min))) {
    stretch.min = next.min;
    stretch.min_step = next.min_step;
  }
  if (next.max > stretch.max || (std::isnan(stretch.max) && !std::isnan(next.max))) {
    stretch.max = next.max;
    stretch.max_step = next.max_step;
  }
}

int64_t points_of(const std::vector<NumberStretch>& pieces) {
  int64_t points = 0;
  for (const NumberStretch& piece : pieces) points += piece.count;
  return points;
}

std::vector<NumberStretch> reduce(const std::vector<NumberStretch>& pieces, int64_t at_most) {
  const int64_t points = points_of(pieces);
  if (points <= at_most) return pieces;
  std::vector<NumberStretch> stretches;
  int64_t before = 0, last_place = -1;
  for (const NumberStretch& piece : pieces) {
    // Since at_most < points, the product is far from the largest integer.
    const int64_t place = before * at_most / points;
    if (place != last_place) stretches.emplace_back();
    join(stretches.back(), piece);
    last_place = place;
    before += piece.count;
  }
  return stretches;
}

}  // namespace flightdeck::record
