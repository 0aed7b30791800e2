// SPDX-License-Identifier: MIT
#include "study/analysis/coordinates.h"

#include <algorithm>

namespace flightdeck::study {
namespace {

bool is_untuned(const Result& result) {
  return result.choice.budget == "one_shot" && result.choice.schedule == "constant";
}

Coordinate coordinate_of(const Result& result, size_t axis) {
  return {result.choice.competitor, axis, result.performance, result.seeds};
}

// Searches everything that was run on the problem, so that axes of all budgets share an upper end.
double best_of_problem(const std::vector<Result>& results, const std::string& problem) {
  const Result* best = nullptr;
  for (const Result& result : results) {
    if (result.choice.problem != problem) continue;
    if (best == nullptr ||
        result.measure.is_better(result.performance.mean, best->performance.mean)) {
      best = &result;
    }
  }
  return best->performance.mean;
}

double reference_of(const std::vector<Result>& results,
                    const std::vector<const Result*>& shown,
                    const Axis& axis) {
  for (const Result& result : results) {
    if (result.choice.problem == axis.problem && result.choice.competitor == "adam" &&
        is_untuned(result) && axis.measure.is_better(axis.best, result.performance.mean)) {
      return result.performance.mean;
    }
  }
  double worst = axis.best;
  for (const Result* result : shown) {
    if (result->choice.problem != axis.problem) continue;
    if (axis.measure.is_better(worst, result->performance.mean)) worst = result->performance.mean;
  }
  return worst;
}

Coordinates coordinates_of(const std::vector<std::string>& problems,
                           const std::vector<Result>& results,
                           const std::string& schedule,
                           const std::string& budget) {
  Coordinates found{schedule, budget, {}, {}, {}};
  std::vector<const Result*> shown;
  for (const Result& result : results) {
    if (result.choice.schedule == schedule && result.choice.budget == budget) {
      shown.push_back(&result);
    }
  }
  for (const std::string& problem : problems) {
    const auto at = std::find_if(shown.begin(), shown.end(), [&](const Result* result) {
      return result->choice.problem == problem;
    });
    if (at == shown.end()) continue;
    Axis axis{problem, (*at)->measure, best_of_problem(results, problem), 0};
    axis.reference = reference_of(results, shown, axis);
    found.axes.push_back(axis);
  }
  const auto add = [&](const Result& result, std::vector<Coordinate>& into) {
    for (size_t k = 0; k < found.axes.size(); ++k) {
      if (found.axes[k].problem == result.choice.problem) into.push_back(coordinate_of(result, k));
    }
  };
  for (const Result* result : shown) add(*result, found.tuned);
  for (const Result& result : results) {
    const std::string& name = result.choice.competitor;
    if (is_untuned(result) && (name == "adam" || name == "adabound")) add(result, found.untuned);
  }
  const auto by_name = [](const Coordinate& a, const Coordinate& b) {
    return a.competitor != b.competitor ? a.competitor < b.competitor : a.axis < b.axis;
  };
  std::sort(found.tuned.begin(), found.tuned.end(), by_name);
  std::sort(found.untuned.begin(), found.untuned.end(), by_name);
  return found;
}

}  // namespace

double Axis::height(double score) const {
  if (best == reference) return score == best ? 1.0 : NAN;
  return 1.0 - (1.0 - kReferenceHeight) * (best - score) / (best - reference);
}

std::vector<Coordinates> coordinates(const std::vector<std::string>& problems,
                                     const std::vector<Result>& results) {
  std::vector<std::string> schedules;
  for (const Result& result : results) {
    const std::string& name = result.choice.schedule;
    if (std::count(schedules.begin(), schedules.end(), name) == 0) schedules.push_back(name);
  }
  std::vector<Coordinates> all;
  for (const std::string& schedule : schedules) {
    for (const std::string& budget : budgets()) {
      Coordinates found = coordinates_of(problems, results, schedule, budget);
      if (found.axes.size() > 1) all.push_back(std::move(found));
    }
  }
  return all;
}

}  // namespace flightdeck::study
