// SPDX-License-Identifier: MIT
// Everything that `flightdeck analyze` finds out about a comparison, before it is shown.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/analysis/coordinates.h"
#include "study/analysis/gains.h"
#include "study/analysis/improvement.h"
#include "study/analysis/profile.h"
#include "study/analysis/result.h"
#include "study/analysis/retuning.h"
#include "study/analysis/seed_points.h"
#include "study/analysis/trial.h"
#include "study/analysis/tuneability.h"

namespace flightdeck::study {

struct AnalysisOptions {
  MeasuredPart part = MeasuredPart::kTest;  // what performance is measured on
  bool is_of_losses = false;                // the loss also where there is an accuracy
  bool has_median_curves = false;           // learning curves: median and quartiles, not the mean
  std::map<std::string, double> targets;    // by problem, in place of what was published
  // Problems of the published comparison, in its order; all tables begin with them.
  std::vector<std::string> benchmark;
  // Published convergence performances, by problem (see find_targets).
  std::map<std::string, double> published_targets;
};

// The outcomes of one of several studies.
struct NamedStudy {
  std::string name;
  std::vector<Outcome> outcomes;
};

struct Analysis {
  AnalysisOptions options;
  std::vector<std::string> warnings;
  int64_t runs = 0, diverged = 0, baseline_runs = 0;
  bool has_synthetic = false;

  std::vector<Trial> trials;
  std::vector<std::string> problems;     // those of the benchmark first
  std::vector<std::string> competitors;  // baselines last
  std::vector<std::string> schedules;    // constant first
  std::map<std::string, Target> targets;
  std::vector<Result> results;
  std::vector<size_t> headline;  // positions in `results`: see headline()
  std::vector<TunedPoint> points;
  std::vector<Tuneability> tuneabilities;
  std::vector<Improvement> improvements;
  std::vector<Gain> gains;
  std::vector<Profile> profiles;  // of the headline
  std::vector<SeedPoint> seed_points;
  std::vector<Coordinates> coordinates;
  std::vector<Retuning> retunings;  // of analyze_apart; empty otherwise

  // Returns null if there is none.
  const Result* headline_of(const std::string& problem, const std::string& competitor) const;
  std::vector<const Result*> headline_of(const std::string& problem) const;
};

// Compares all outcomes. Leaves out baselines of problems that the outcomes do not have, and real
// ones where the outcomes are synthetic. Throws std::invalid_argument if a target is given for a
// problem that is not there. Runs and baselines that were trained for another number of epochs, or
// for longer or shorter epochs, than most runs of their problem are left out, and a warning says
// so.
Analysis analyze(const std::vector<Outcome>& outcomes,
                 const std::vector<Outcome>& baselines,
                 const AnalysisOptions& options);

// Keeps repeated tunings of the same optimizers apart: returns the analysis of the first, and
// `retunings` of all, by study. Throws std::invalid_argument on fewer than two.
Analysis analyze_apart(const std::vector<NamedStudy>& studies,
                       const std::vector<Outcome>& baselines,
                       const AnalysisOptions& options);

}  // namespace flightdeck::study
