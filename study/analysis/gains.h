// SPDX-License-Identifier: MIT
// What more tuning and a schedule bring: relative gains over the same optimizer with less.
#pragma once

#include <string>
#include <vector>

#include "study/analysis/result.h"

namespace flightdeck::study {

// Relative gains of the mean performance, positive if better; not a number where there is nothing
// to compare with.
struct Gain {
  std::string problem, competitor, schedule, budget;
  double over_one_shot = 0;     // over one_shot with the constant schedule
  double over_less_tuning = 0;  // over the next smaller budget with the same schedule
  double over_constant = 0;     // over the constant schedule with the same budget
};

// Covers the budgets one_shot, grid, small, medium and large; the next smaller one of small and
// grid is one_shot.
std::vector<Gain> gains(const std::vector<Result>& results);

// Quartiles of a gain over problems and optimizers, for one schedule and budget.
struct GainSummary {
  std::string schedule, budget;
  double lower = 0, middle = 0, upper = 0;  // quartiles
  int64_t count = 0;
};

// Leaves out gains that are not a number, and schedules and budgets that have no others.
std::vector<GainSummary> summarise(const std::vector<Gain>& gains, double Gain::*kind);

}  // namespace flightdeck::study
