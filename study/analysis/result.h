// SPDX-License-Identifier: MIT
// Performance of what was chosen, and the time it took to a target.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/analysis/choice.h"

namespace flightdeck::study {

// Convergence performance of a problem: reaching it counts as solved.
struct Target {
  double value = 0;
  Measure measure;
  std::string origin;  // "given", "published" or "derived"
};

struct Result {
  Choice choice;
  Measure measure;
  Spread performance;         // at the reported epoch, over seeds
  std::vector<double> seeds;  // the scores behind it, in the order of the trial's runs
  double on_tuning_seed = 0;
  int64_t diverged = 0;  // seeds
  // First evaluated epoch at the target, over seeds; one more than planned if it is not reached.
  // A seed that diverged does not reach it.
  Spread epochs;
  Spread epochs_if_reached;      // of the seeds that reach it alone
  Spread iterations, seconds;    // the same in other units
  int64_t not_reached = 0;       // seeds
  double median_iterations = 0;  // over seeds; infinite where it was not reached
};

// Share of the way from the untrained score to the final one that counts as solved, where no
// constant was published.
constexpr double kShareOfTheWay = 0.98;

// What is known of problems beyond their runs, by problem.
struct KnownTargets {
  std::map<std::string, double> given;
  std::map<std::string, double> published;  // on the test set of the real data
};

// The part that performance is measured on, and whether by the accuracy where there is one.
struct Judged {
  MeasuredPart part = MeasuredPart::kTest;
  bool prefers_accuracy = true;

  Measure measure(const Trial& trial) const {
    return prefers_accuracy ? trial.measure(part) : Measure{part, false};
  }
};

// Returns targets by problem. The first of these counts: what was given; what was published, if it
// has the same measure and the data are real; 98 % of the way from the untrained score to the
// median of the final ones, over the baselines if there are any, else over all choices.
std::map<std::string, Target> find_targets(const std::vector<Trial>& trials,
                                           const std::vector<Choice>& choices,
                                           const KnownTargets& known,
                                           const Judged& judged);

// Leaves out choices without scores of the target's measure.
std::vector<Result> judge(const std::vector<Trial>& trials,
                          const std::vector<Choice>& choices,
                          const std::map<std::string, Target>& targets);

// Returns for each competitor and problem the position of one choice among those with the greatest
// budget: the one with the constant schedule, or else the best on the validation set.
std::vector<size_t> headline(const std::vector<Trial>& trials, const std::vector<Choice>& choices);

}  // namespace flightdeck::study
