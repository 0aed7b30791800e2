// SPDX-License-Identifier: MIT
// What a comparison is asked to find out. It is stored with the study, so that its folder says
// everything that is needed to go on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "study/grid.h"
#include "study/space.h"

namespace flightdeck::study {

struct OptimizerRequest {
  std::string name;
  Space space;  // all hyperparameters
};

struct Request {
  std::vector<std::string> problems;
  std::vector<OptimizerRequest> optimizers;
  std::vector<std::string> schedules;
  // Some of "one_shot", "small", "medium", "large", and "grid" if there is one.
  std::vector<std::string> budgets;
  std::vector<GridAxis> grid;
  uint64_t seed = 42;  // of the draws and of every tuning run; repeats have the ones after it
  int64_t seeds = 10;  // in all, that of tuning counted
  // Every point of the grid is run with all seeds, not the best alone.
  bool has_all_seeds = false;
  // Every run gets these as --NAME VALUE; flags have an empty value.
  std::map<std::string, std::string> run_options;

  // Throws std::out_of_range if there is none.
  const OptimizerRequest& optimizer(const std::string& name) const;
  bool has_budget(const std::string& name) const;
};

// Returns the names of the budgets, from least to most work; "grid" is not one that can be asked
// for.
const std::vector<std::string>& budget_names();

// Writes JSON with line breaks.
std::string to_json(const Request& request);
// Throws std::runtime_error, saying what is missing or wrong.
Request request_from_json(const std::string& text);

// Says what differs: "epochs is 2 but 3 is asked for" and the like; empty if nothing does.
std::vector<std::string> differences(const Request& stored, const Request& asked);

}  // namespace flightdeck::study
