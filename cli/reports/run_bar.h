// SPDX-License-Identifier: MIT
// How far a training is, in one line of any width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace flightdeck::cli {

struct RunBar {
  std::string title;
  int64_t done = 0, of = 0;       // steps
  double loss = 0, accuracy = 0;  // NaN: there is none
  double steps_per_second = 0, seconds_left = 0;
};

// Writes at most `columns` columns. Every piece has a width of its own, whatever its numbers are,
// so that nothing moves from one step to the next. Where not all fit, what tells least goes first:
// the steps that are done and the time left stay.
std::string bar_text(const RunBar& run, size_t columns, bool utf8);

}  // namespace flightdeck::cli
