// SPDX-License-Identifier: MIT
#include "study/analysis/gains.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace flightdeck::study {
namespace {

using Key = std::tuple<std::string, std::string, std::string, std::string>;

std::string less_tuned(const std::string& budget) {
  if (budget == "large") return "medium";
  if (budget == "medium") return "small";
  return budget == "one_shot" ? "" : "one_shot";
}

double relative_gain(const std::map<Key, const Result*>& all,
                     const Key& before,
                     const Result& now) {
  const auto at = all.find(before);
  if (at == all.end()) return NAN;
  const double then = at->second->performance.mean;
  if (then == 0) return NAN;
  return now.measure.gain(then, now.performance.mean) / std::fabs(then);
}

}  // namespace

std::vector<Gain> gains(const std::vector<Result>& results) {
  std::map<Key, const Result*> all;
  for (const Result& result : results) {
    const Choice& choice = result.choice;
    all[{choice.problem, choice.competitor, choice.schedule, choice.budget}] = &result;
  }
  std::vector<Gain> rows;
  for (const Result& result : results) {
    const Choice& choice = result.choice;
    if (choice.budget == "any") continue;
    const auto over = [&](const std::string& schedule, const std::string& budget) {
      return relative_gain(all, {choice.problem, choice.competitor, schedule, budget}, result);
    };
    Gain row{choice.problem, choice.competitor, choice.schedule, choice.budget};
    row.over_one_shot = over("constant", "one_shot");
    row.over_less_tuning = over(choice.schedule, less_tuned(choice.budget));
    row.over_constant = choice.schedule == "constant" ? NAN : over("constant", choice.budget);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<GainSummary> summarise(const std::vector<Gain>& gains, double Gain::*kind) {
  std::map<std::string, std::map<std::string, std::vector<double>>> values;
  for (const Gain& gain : gains) {
    if (!std::isnan(gain.*kind)) values[gain.schedule][gain.budget].push_back(gain.*kind);
  }
  std::vector<GainSummary> summaries;
  for (const auto& [schedule, by_budget] : values) {
    for (const std::string& budget : budgets()) {
      const auto at = by_budget.find(budget);
      if (at == by_budget.end()) continue;
      summaries.push_back({schedule,
                           budget,
                           percentile(at->second, 0.25),
                           median(at->second),
                           percentile(at->second, 0.75),
                           static_cast<int64_t>(at->second.size())});
    }
  }
  return summaries;
}

}  // namespace flightdeck::study
