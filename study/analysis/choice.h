// SPDX-License-Identifier: MIT
// Budgets of tuning, and the setting that each would have chosen.
#pragma once

#include <string>
#include <vector>

#include "study/analysis/trial.h"

namespace flightdeck::study {

// Returns the names from the least effort to the greatest: "one_shot", "any" (runs that belong to
// no tuning), "grid", "small", "medium", "large".
const std::vector<std::string>& budgets();
// Returns how many samples make a budget; 0: as many as there are.
int64_t samples_in(const std::string& budget);

// The best setting of an optimizer on a problem, for one schedule and budget.
struct Choice {
  std::string problem, competitor, schedule, budget;
  size_t trial = 0;          // position in the trials
  int64_t samples = 0;       // settings that were compared
  uint64_t tuning_seed = 0;  // that they were compared on
};

// Chooses as tuning does (study/selection.h), on the seed that most of the settings share; among
// equals the one with more seeds wins.
std::vector<Choice> choose(const std::vector<Trial>& trials);

// Returns whether a setting competes for the budget.
bool is_in_budget(const std::string& sample, const std::string& budget);

// Returns the run on this seed, or the first if there is none.
const TrialRun& run_on(const Trial& trial, uint64_t seed);

}  // namespace flightdeck::study
