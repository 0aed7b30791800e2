// SPDX-License-Identifier: MIT
// How much the choice of hyperparameters matters: what was best, and how good the rest was.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/analysis/result.h"

namespace flightdeck::study {

// One setting that was tried in tuning, judged on the tuning seed.
struct TunedPoint {
  std::string problem, competitor, schedule, sample;
  double learning_rate = 0;  // not a number if the optimizer has none
  double score = 0;          // at the reported epoch
  double relative = 0;       // to the best of the problem and schedule: 1 is best, 0 diverged
  double relative_to_own = 0;
  bool has_diverged = false;
};

struct Tuneability {
  std::string problem, competitor, schedule, budget;
  std::map<std::string, double> best;
  // Set for a grid only: whether the best setting has neighbours on both sides along every axis of
  // three values or more, and the axes along which it has not ("learning_rate at the upper end").
  bool is_on_grid = false, is_interior = false;
  std::string at_edge;
  int64_t samples = 0;
  int64_t diverged = 0;   // of the samples
  double within_1 = 0;    // share of the samples within 1 % of the optimizer's best
  double within_10 = 0;   // ... within 10 %
  double median_rel = 0;  // median of what the samples reach relative to the best
};

// Returns score / best for accuracies, best / score for losses, never below 0. Where the best loss
// is not above 0, returns the share of the way from `untrained` to the best.
double relative_performance(const Measure& measure, double score, double best, double untrained);

std::vector<TunedPoint> tuned_points(const std::vector<Trial>& trials,
                                     const std::vector<Choice>& choices,
                                     const std::map<std::string, Target>& targets);

// Returns a row for every choice that more than one setting competed for.
std::vector<Tuneability> tuneabilities(const std::vector<Trial>& trials,
                                       const std::vector<Choice>& choices,
                                       const std::vector<TunedPoint>& points);

// Returns the best relative performance in every third of a decade of learning rates, at the rate
// that had it: a line that can be drawn where several hyperparameters vary at once.
std::vector<std::pair<double, double>> upper_envelope(const std::vector<TunedPoint>& points);

}  // namespace flightdeck::study
