// SPDX-License-Identifier: MIT
#include "suite/problem_sets.h"

#include <map>

#include "suite/problem.h"

namespace flightdeck::suite {

std::vector<ProblemSet> problem_sets() {
  constexpr int64_t kSmall = 4;  // places of the small set
  std::map<int64_t, std::string> places;
  for (const Problem& problem : all_problems()) {
    if (problem.benchmark_place > 0) places[problem.benchmark_place] = problem.name;
  }
  ProblemSet all{"benchmark", "the eight problems of the published comparison", {}};
  ProblemSet small{"small", "its four smaller problems", {}};
  ProblemSet large{"large", "its four larger problems", {}};
  for (const auto& [place, name] : places) {
    all.problems.push_back(name);
    (place <= kSmall ? small : large).problems.push_back(name);
  }
  return {all, small, large};
}

}  // namespace flightdeck::suite
