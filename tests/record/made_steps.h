// SPDX-License-Identifier: MIT
// Steps whose values follow from their number, for a writer and a checker in two processes.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "flightdeck/reading.h"

namespace flightdeck::tests {

inline Reading made_reading(ReadingKind kind, const char* quantity, const char* group = "") {
  Reading reading;
  reading.kind = kind;
  reading.quantity = quantity;
  reading.group = group;
  return reading;
}

// Numbers (some of them not finite), a list that grows and shrinks, and a histogram.
inline StepReadings make_step(int64_t step) {
  StepReadings made;
  made.step = step;
  made.time = 1.7e9 + 0.25 * static_cast<double>(step);
  Reading loss = made_reading(ReadingKind::kNumber, "loss");
  loss.number = step % 7 == 3 ? std::numeric_limits<double>::quiet_NaN() : std::sin(step);
  Reading norm = made_reading(ReadingKind::kNumber, "grad_norm", "conv1.weight");
  norm.number = step % 11 == 5 ? -std::numeric_limits<double>::infinity() : 1.0 / (1.0 + step);
  Reading outliers = made_reading(ReadingKind::kList, "sample_outliers");
  for (int64_t i = 0; i < step % 50; ++i) outliers.list.push_back(0.5 * (i + step));
  Reading histogram = made_reading(ReadingKind::kHistogram, "grad_hist_2d");
  histogram.axes = {{-1, 1, 4}, {0, 2.5, 6}};
  histogram.counts.assign(24, 0);
  histogram.counts[step % 24] = step;
  histogram.below = step % 3;
  histogram.above = 1;
  histogram.not_a_number = step % 2;
  made.readings = {loss, norm, outliers, histogram};
  return made;
}

// What becomes known of a step only after the next one was written.
inline StepReadings make_late_step(int64_t step) {
  StepReadings made;
  made.step = step;
  made.time = 1.7e9 + 0.25 * static_cast<double>(step) + 0.125;
  Reading alpha = made_reading(ReadingKind::kNumber, "alpha");
  alpha.number = 0.1 * static_cast<double>(step);
  made.readings = {alpha};
  return made;
}

}  // namespace flightdeck::tests
