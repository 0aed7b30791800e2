// SPDX-License-Identifier: MIT
// What switching from an untuned optimizer to a tuned one gains: the improvement matrix.
#pragma once

#include <string>
#include <vector>

#include "study/analysis/result.h"

namespace flightdeck::study {

// One cell of a matrix. Gains are positive where the tuned optimizer is better.
struct Improvement {
  std::string problem;  // empty: mean over problems, of `relative` alone
  std::string untuned;  // row: with default hyperparameters (one_shot)
  std::string tuned;    // column
  std::string budget;   // of the column
  double absolute = 0;  // difference of the mean performances; not a number in the mean
  double relative = 0;  // absolute / |performance of the untuned|
  double absolute_on_tuning_seed = 0;
  int64_t problems = 1;
};

// Covers the constant schedule and every budget that tunes. A problem without a one-shot result has
// no cells.
std::vector<Improvement> improvements(const std::vector<Result>& results);

}  // namespace flightdeck::study
