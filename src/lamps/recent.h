// SPDX-License-Identifier: MIT
// The last values of series of numbers, for lamps that judge by several steps and not by one.
#pragma once

#include <string>
#include <vector>

#include "flightdeck/lamp.h"

namespace flightdeck::lamps {

struct Recent {
  SeriesInfo series;
  std::vector<NumberPoint> points;  // the last ones, in order

  double median() const;
  // Writes " (median of 3 values up to step 40)".
  std::string where() const;
};

// Returns every series of numbers of the quantity with at least `count` points, with the last
// `count`.
std::vector<Recent> recent(const LampView& view, const std::string& quantity, int64_t count);

// Returns that of the whole model alone, without fields; no points if it has too few.
Recent recent_of_model(const LampView& view, const std::string& quantity, int64_t count);

// Writes a number as "0.93" or "1.2e-05".
std::string short_text(double value);
// Writes names as "conv1, conv2 and 3 more".
std::string listed(const std::vector<std::string>& names);

}  // namespace flightdeck::lamps
