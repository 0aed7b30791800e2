// SPDX-License-Identifier: MIT
// Outcomes grouped into settings: what was tried, with one run for each seed.
#pragma once

#include <string>
#include <vector>

#include "study/analysis/measure.h"
#include "study/outcome.h"
#include "study/selection.h"
#include "study/statistics.h"

namespace flightdeck::study {

// One seed of a trial. Scores are those of Trial::evaluated; where the training had diverged, the
// untrained ones.
struct TrialRun {
  uint64_t seed = 0;
  bool has_diverged = false;
  RunScore score;  // by which tuning ranks it
  Curve train, valid, test;
  double seconds_per_epoch = 0;
};

struct Trial {
  Setting setting;
  std::string sample;  // the tag; empty: none
  bool is_baseline = false;
  bool is_synthetic = false;
  int64_t steps_per_epoch = 0;
  int64_t reported_epoch = 0;
  std::vector<int64_t> evaluated;  // epochs that all runs have scores of; the first is untrained
  std::vector<TrialRun> runs;      // by seed

  // Names the optimizer as the reader meets it: "sgd", "sgd (baseline)".
  std::string competitor() const;
  bool has(const Measure& measure) const;
  // Returns the accuracy of the part if there is one, else its loss.
  Measure measure(MeasuredPart part) const;
  // Returns the position in `evaluated` of the epoch at which the trial is judged.
  size_t reported() const;
  // Returns mean and deviation over the seeds, at a position of `evaluated`.
  Spread spread(const Measure& measure, size_t position) const;
  // Returns the score below which `share` of the seeds lie.
  double quantile(const Measure& measure, size_t position, double share) const;
};

struct Trials {
  std::vector<Trial> all;  // by problem, optimizer, schedule, sample
  std::vector<std::string> warnings;
  int64_t runs = 0, diverged = 0, interrupted = 0;
};

// Leaves out interrupted runs. Of two runs with the same seed in one setting the last counts. Both
// are told in the warnings.
Trials group(const std::vector<Outcome>& outcomes, bool are_baselines);

}  // namespace flightdeck::study
