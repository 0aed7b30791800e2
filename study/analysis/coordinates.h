// SPDX-License-Identifier: MIT
// All optimizers over all problems at once: an axis for each problem, a line for each optimizer
// (Figures 6.4 and B.9 to B.12 of the comparison).
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "study/analysis/result.h"

namespace flightdeck::study {

// The reference, an optimizer with default hyperparameters, stands at this height of an axis.
constexpr double kReferenceHeight = 0.2;

// The axis of a problem. Height 1 is the best of the comparison, kReferenceHeight the reference.
struct Axis {
  std::string problem;
  Measure measure;
  double best = 0;       // over all results of the problem
  double reference = 0;  // adam untuned with the constant schedule, or else the worst shown

  double height(double score) const;
};

struct Coordinate {
  std::string competitor;
  size_t axis = 0;
  Spread performance;
  std::vector<double> seeds;  // their scores
};

// The results of one schedule and budget.
struct Coordinates {
  std::string schedule, budget;
  std::vector<Axis> axes;           // in the order of the problems
  std::vector<Coordinate> tuned;    // by competitor and axis
  std::vector<Coordinate> untuned;  // adam and adabound, one_shot, constant schedule
};

// Returns an entry for every schedule and budget that has results of more than one problem.
std::vector<Coordinates> coordinates(const std::vector<std::string>& problems,
                                     const std::vector<Result>& results);

}  // namespace flightdeck::study
