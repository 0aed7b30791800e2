// SPDX-License-Identifier: MIT
// The runs of a comparison. A plan grows in stages: tuning, draws from refined bounds, repeats of
// the best; each follows from the request and from how earlier runs ended.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/request.h"
#include "study/selection.h"

namespace flightdeck::study {

// A combination is what is tuned on its own.
struct Combination {
  std::string problem, optimizer, schedule;
};

std::vector<Combination> combinations(const Request& request);

struct PlannedRun {
  std::string id;     // its folder below runs/
  std::string stage;  // "tuning", "refined" or "repeats"
  std::string problem, optimizer, schedule;
  std::string sample;  // "random-007"
  uint64_t seed = 0;
  Values hyperparameters;  // all of the optimizer's
};

// Writes one line of JSON.
std::string to_json(const PlannedRun& run);
// Throws std::runtime_error, saying what is missing or wrong.
PlannedRun planned_run_from_json(const std::string& text);

// Scores of the runs that ended, by id.
using Scores = std::map<std::string, RunScore>;

// Returns the runs of a combination that are known by now; later calls give the same ones and more.
std::vector<PlannedRun> planned_runs(const Request& request,
                                     const Combination& combination,
                                     const Scores& scores);

// Returns how long a plan of this request can get.
size_t most_runs(const Request& request);

// What tuning with a budget found.
struct TunedSetting {
  Combination combination;
  std::string budget;
  std::string sample;  // empty: not known yet
  Values hyperparameters;
  bool is_accuracy = false;
  bool is_complete = false;  // all seeds ended
  SeedSpread spread;         // over the seeds that ended
};

// Returns one for each combination and budget.
std::vector<TunedSetting> tuned_settings(const Request& request, const Scores& scores);

// Turns a schedule's text into the name of a folder.
std::string safe_name(const std::string& schedule);

}  // namespace flightdeck::study
