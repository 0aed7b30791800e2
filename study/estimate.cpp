// SPDX-License-Identifier: MIT
#include "study/estimate.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace flightdeck::study {
namespace {

// Runs that diverged are counted apart: they are short and say little of those that do not.
struct Times {
  double finished = 0, diverged = 0;
  size_t finished_runs = 0, diverged_runs = 0;

  void add(const RunScore& score) {
    (score.is_diverged ? diverged : finished) += score.seconds;
    ++(score.is_diverged ? diverged_runs : finished_runs);
  }
  bool is_empty() const { return finished_runs + diverged_runs == 0; }
  double mean() const {
    return finished_runs > 0 ? finished / static_cast<double>(finished_runs)
                             : diverged / static_cast<double>(diverged_runs);
  }
};

using Pair = std::pair<std::string, std::string>;  // problem and optimizer

}  // namespace

Estimate estimate_of(const Study& study) {
  Estimate estimate;
  std::map<Pair, Times> of_pairs;
  std::map<std::string, Times> of_problems;
  std::map<Pair, size_t> ended;
  for (const PlannedRun& run : study.plan()) {
    const auto score = study.scores().find(run.id);
    if (score == study.scores().end()) continue;
    ++ended[{run.problem, run.optimizer}];
    if (score->second.seconds <= 0) continue;  // trained by a version that did not say
    ++estimate.measured;
    of_pairs[{run.problem, run.optimizer}].add(score->second);
    of_problems[run.problem].add(score->second);
  }
  const Request& request = study.request();
  const size_t all = request.problems.size() * request.optimizers.size();
  const size_t most = all == 0 ? 0 : most_runs(request) / all;  // of a problem and an optimizer
  for (const std::string& problem : request.problems) {
    const Times& of_problem = of_problems[problem];
    if (of_problem.is_empty()) estimate.unknown.push_back(problem);
    for (const OptimizerRequest& optimizer : request.optimizers) {
      const Pair pair(problem, optimizer.name);
      const size_t left = most - std::min(most, ended[pair]);
      estimate.left += left;
      if (of_problem.is_empty()) {
        estimate.unknown_runs += left;
        continue;
      }
      const Times& own = of_pairs[pair];
      estimate.seconds +=
          static_cast<double>(left) * (own.finished_runs > 0 ? own : of_problem).mean();
    }
  }
  return estimate;
}

std::vector<size_t> pilot_places(const Study& study) {
  std::set<std::string> measured;
  std::map<std::string, size_t> first;
  for (size_t k = 0; k < study.plan().size(); ++k) {
    const PlannedRun& run = study.plan()[k];
    if (study.has_ended(run)) {
      measured.insert(run.problem);
    } else {
      first.emplace(run.problem, k);
    }
  }
  std::vector<size_t> places;
  for (const auto& [problem, place] : first) {
    if (measured.count(problem) == 0) places.push_back(place);
  }
  return places;
}

}  // namespace flightdeck::study
