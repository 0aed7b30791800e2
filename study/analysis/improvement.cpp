// SPDX-License-Identifier: MIT
#include "study/analysis/improvement.h"

#include <cmath>
#include <map>
#include <tuple>

namespace flightdeck::study {

std::vector<Improvement> improvements(const std::vector<Result>& results) {
  std::vector<const Result*> untuned, tuned;
  for (const Result& result : results) {
    if (result.choice.schedule != "constant") continue;
    (result.choice.budget == "one_shot" ? untuned : tuned).push_back(&result);
  }
  std::vector<Improvement> cells;
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<double>> over_problems;
  for (const Result* row : untuned) {
    for (const Result* column : tuned) {
      if (row->choice.problem != column->choice.problem) continue;
      Improvement cell;
      cell.problem = row->choice.problem;
      cell.untuned = row->choice.competitor;
      cell.tuned = column->choice.competitor;
      cell.budget = column->choice.budget;
      cell.absolute = row->measure.gain(row->performance.mean, column->performance.mean);
      const double before = std::fabs(row->performance.mean);
      cell.relative = before == 0 ? NAN : cell.absolute / before;
      cell.absolute_on_tuning_seed = row->measure.gain(row->on_tuning_seed, column->on_tuning_seed);
      if (before != 0) {
        over_problems[{cell.untuned, cell.tuned, cell.budget}].push_back(cell.relative);
      }
      cells.push_back(std::move(cell));
    }
  }
  for (const auto& [what, relative] : over_problems) {
    Improvement cell;
    std::tie(cell.untuned, cell.tuned, cell.budget) = what;
    cell.absolute = cell.absolute_on_tuning_seed = NAN;
    cell.relative = spread_of(relative).mean;
    cell.problems = static_cast<int64_t>(relative.size());
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace flightdeck::study
