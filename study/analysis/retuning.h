// SPDX-License-Identifier: MIT
// The same tuning, done again: how far what it finds moves (Figures B.2 and B.3 of the comparison).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/analysis/result.h"

namespace flightdeck::study {

// One of the studies.
struct RetunedStudy {
  std::string name;
  std::vector<Trial> trials;
  std::vector<Result> results;
};

// What one study found.
struct RetunedChoice {
  std::string study;
  std::map<std::string, double> hyperparameters;
  std::string sample;
  Spread performance;
  std::vector<double> seeds;  // their scores
};

struct Retuning {
  std::string problem, competitor, schedule, budget;
  Measure measure;
  std::vector<RetunedChoice> found;  // by study, two or more
  // The difference of the best and the worst of the means, and the largest deviation over seeds
  // within one study: where the first is the larger, tuning adds more noise than the seeds do.
  double shift = 0, largest_deviation = 0;
};

// Compares what two studies or more have in common, in the order of the first. Leaves out
// baselines.
std::vector<Retuning> retunings(const std::vector<RetunedStudy>& studies);

}  // namespace flightdeck::study
