// SPDX-License-Identifier: MIT
// What is left of a study, in hours of runs, from the seconds that ended ones took.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "study/study.h"

namespace flightdeck::study {

struct Estimate {
  size_t left = 0;      // runs that may still come, at most
  size_t measured = 0;  // runs that ended and say how long they took
  // The time of the runs left, one after the other. Each counts as the mean of the finished ones of
  // its problem and optimizer, or of its problem where that optimizer has none.
  double seconds = 0;
  std::vector<std::string> unknown;  // problems of which no run ended: not in `seconds`
  size_t unknown_runs = 0;           // of `left`, those of these problems
};

Estimate estimate_of(const Study& study);

// Returns for each problem without an ended run the place of its first planned one: these have to
// be run before everything can be estimated.
std::vector<size_t> pilot_places(const Study& study);

}  // namespace flightdeck::study
