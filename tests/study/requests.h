// SPDX-License-Identifier: MIT
// A small request, and made-up scores for the runs that follow from it.
#pragma once

#include <cmath>
#include <functional>
#include <string>

#include "study/plan.h"

namespace flightdeck::study {

// One combination: quadratic_deep, momentum, constant.
inline Request small_request(std::vector<std::string> budgets) {
  using Kind = Search::Kind;
  Request request;
  request.problems = {"quadratic_deep"};
  request.optimizers = {{"momentum",
                         {{"learning_rate", {Kind::kLogUniform, 1e-4, 1, false, {}}, 0.01},
                          {"momentum", {Kind::kLogUniform, 1e-3, 1, true, {}}, 0.99},
                          {"weight_decay", {Kind::kFixed, 0, 0, false, {}}, 0.5}}}};
  request.schedules = {"constant"};
  request.budgets = std::move(budgets);
  return request;
}

inline Combination only_combination() { return {"quadratic_deep", "momentum", "constant"}; }

// A finished run with this loss.
inline RunScore loss_of(double loss) {
  RunScore score;
  score.tuning = score.reported = loss;
  return score;
}

// Plans and ends runs, each with the loss that it is given, until nothing is added.
inline Scores all_ended(const Request& request,
                        const std::function<double(const PlannedRun&)>& loss) {
  Scores scores;
  for (size_t before = 1; before != scores.size();) {
    before = scores.size();
    for (const Combination& combination : combinations(request)) {
      for (const PlannedRun& run : planned_runs(request, combination, scores)) {
        scores[run.id] = loss_of(loss(run));
      }
    }
  }
  return scores;
}

}  // namespace flightdeck::study
