// SPDX-License-Identifier: MIT
// Arithmetic of stretches: points joined to summaries, and summaries to larger ones.
#pragma once

#include <cstdint>
#include <vector>

#include "flightdeck/record.h"

namespace flightdeck::record {

// One row of table stretches has this many points, and up to twice as many where values came out of
// order. With 64 a million points are 16 000 rows, and what is too short for them 64 000 points:
// both cost the same (bench/record_bench.cpp).
constexpr int64_t kStretchPoints = 64;

// Returns the stretch of one point. `value` counts for series of numbers only.
NumberStretch stretch_of(int64_t step, double value, ReadingKind kind);

// Makes `stretch` the summary of itself and `next`, which lies behind it. Either may be empty.
void join(NumberStretch& stretch, const NumberStretch& next);

// Returns how many points all pieces have.
int64_t points_of(const std::vector<NumberStretch>& pieces);

// Joins neighbours to at most `at_most` stretches of about equally many points.
std::vector<NumberStretch> reduce(const std::vector<NumberStretch>& pieces, int64_t at_most);

}  // namespace flightdeck::record
