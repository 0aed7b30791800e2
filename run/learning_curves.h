// SPDX-License-Identifier: MIT
// Optimizers side by side on one problem: their learning curves over several seeds, as experiments
// that compare trainings draw them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/watched_training.h"

namespace flightdeck::run {

struct Competitor {
  std::string name, optimizer;
  suite::Hyperparameters hyperparameters;
  int64_t batch_size = 0;    // 0: the problem's
  bool is_baseline = false;  // drawn dashed
};

// Takes Newton steps by Hessian backpropagation with the tolerance of the published experiments.
Competitor newton_competitor(const std::string& name,
                             const std::string& optimizer,
                             double rate,
                             double damping,
                             int64_t iterations,
                             int64_t batch_size);

struct Contest {
  std::string experiment;  // that reports the progress
  suite::Problem problem;
  TrainingOptions training;  // what all have in common; seeds are counted from its own
  std::vector<Competitor> competitors;
  int64_t steps = 0, interval = 1, seeds = 1;
  bool takes_all_epochs = false;  // as published: the problem's own, each with an evaluation
};

// Scores of one seed, one value for each evaluation. After a loss that is not finite all values are
// NaN.
struct LearningCurve {
  std::vector<double> seconds;  // of the steps alone
  std::vector<double> train_loss, train_accuracy, test_loss, test_accuracy;
};

struct Competed {
  Competitor competitor;
  std::vector<double> steps;
  std::vector<LearningCurve> seeds;

  using Measure = std::vector<double> LearningCurve::*;
  std::vector<double> medians(Measure measure) const;  // over the seeds
  double last(Measure measure) const { return medians(measure).back(); }
  // Returns the first evaluated step at which the median training loss is below `level`; infinite
  // if none.
  double step_below(double level) const;
};

// Takes the sizes that were published, if they are asked for, and those that were chosen; evaluates
// ten times at least. Samples count in the training part.
void take_sizes(Contest& contest, const ExperimentOptions& options);

// Trains all competitors. Names the data, adds a line for each to the table, whose columns are
// kCompetedColumns, and all values as the figure "curves".
extern const std::vector<std::string> kCompetedColumns;
std::vector<Competed> compete(const Contest& contest,
                              const ExperimentOptions& options,
                              ExperimentResult& result);

// Draws medians with a band between the quartiles of the seeds, between their extremes if they are
// fewer than four, over steps or over the seconds they took.
study::Panel curves_panel(const std::vector<Competed>& all,
                          Competed::Measure measure,
                          const std::string& title,
                          bool is_log_y = false);
study::Panel seconds_panel(const std::vector<Competed>& all,
                           Competed::Measure measure,
                           const std::string& title);

const Competed& competed_of(const std::vector<Competed>& all, const std::string& name);

}  // namespace flightdeck::run
