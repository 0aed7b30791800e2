// SPDX-License-Identifier: MIT
#include "study/analysis/result.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>

namespace flightdeck::study {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// Returns the first evaluated epoch at the target.
double epoch_at_target(const Trial& trial, const TrialRun& run, const Target& target) {
  if (run.has_diverged) return kNever;
  const std::vector<double>& scores = scores_of(run, target.measure);
  for (size_t k = 0; k < scores.size(); ++k) {
    if (target.measure.reaches(scores[k], target.value)) {
      return static_cast<double>(trial.evaluated[k]);
    }
  }
  return kNever;
}

void time(const Trial& trial, const Target& target, Result& result) {
  std::vector<double> epochs, if_reached, iterations, seconds, strict;
  const double steps = static_cast<double>(trial.steps_per_epoch);
  for (const TrialRun& run : trial.runs) {
    const double reached = epoch_at_target(trial, run, target);
    const bool is_reached = std::isfinite(reached);
    const double counted = is_reached ? reached : static_cast<double>(trial.setting.epochs + 1);
    result.not_reached += is_reached ? 0 : 1;
    epochs.push_back(counted);
    if (is_reached) if_reached.push_back(reached);
    iterations.push_back(counted * steps);
    seconds.push_back(counted * run.seconds_per_epoch);
    strict.push_back(reached * steps);
  }
  result.epochs = spread_of(epochs);
  if (!if_reached.empty()) result.epochs_if_reached = spread_of(if_reached);
  result.iterations = spread_of(iterations);
  result.seconds = spread_of(seconds);
  result.median_iterations = median(strict);
}

double derived_target(const std::vector<const Trial*>& chosen, const Measure& measure) {
  const bool has_baseline = std::any_of(
      chosen.begin(), chosen.end(), [](const Trial* trial) { return trial->is_baseline; });
  std::vector<double> untrained, trained;
  for (const Trial* trial : chosen) {
    if (trial->is_baseline != has_baseline) continue;
    untrained.push_back(trial->spread(measure, 0).mean);
    trained.push_back(trial->spread(measure, trial->reported()).mean);
  }
  const double start = median(untrained);
  return start + kShareOfTheWay * (median(trained) - start);
}

}  // namespace

std::vector<size_t> headline(const std::vector<Trial>& trials, const std::vector<Choice>& choices) {
  const auto rank = [&](const Choice& choice) {
    const auto effort = std::find(budgets().begin(), budgets().end(), choice.budget);
    const Trial& trial = trials[choice.trial];
    const Measure valid = trial.measure(MeasuredPart::kValid);
    const double score =
        trial.has(valid) ? trial.spread(valid, trial.evaluated.size() - 1).mean : 0.0;
    return std::make_tuple(budgets().end() - effort,
                           choice.schedule != "constant",
                           valid.is_accuracy ? -score : score,
                           choice.schedule);
  };
  std::map<std::pair<std::string, std::string>, size_t> best;
  for (size_t k = 0; k < choices.size(); ++k) {
    const auto [at, is_new] = best.insert({{choices[k].problem, choices[k].competitor}, k});
    if (!is_new && rank(choices[k]) < rank(choices[at->second])) at->second = k;
  }
  std::vector<size_t> positions;
  for (const auto& [what, position] : best) positions.push_back(position);
  std::sort(positions.begin(), positions.end());
  return positions;
}

std::map<std::string, Target> find_targets(const std::vector<Trial>& trials,
                                           const std::vector<Choice>& choices,
                                           const KnownTargets& known,
                                           const Judged& judged) {
  std::map<std::string, std::vector<const Trial*>> chosen;
  for (const size_t k : headline(trials, choices)) {
    const Trial& trial = trials[choices[k].trial];
    if (trial.has({judged.part, false})) chosen[choices[k].problem].push_back(&trial);
  }
  std::map<std::string, Target> targets;
  for (const auto& [problem, its_trials] : chosen) {
    const bool is_synthetic = its_trials.front()->is_synthetic;
    const auto given = known.given.find(problem);
    const auto published = known.published.find(problem);
    Target target;
    const Measure usual = its_trials.front()->measure(MeasuredPart::kTest);
    target.measure = judged.measure(*its_trials.front());
    if (given != known.given.end()) {
      target.value = given->second;
      target.origin = "given";
    } else if (published != known.published.end() && target.measure.part == MeasuredPart::kTest &&
               target.measure.is_accuracy == usual.is_accuracy && !is_synthetic) {
      target.value = published->second;
      target.origin = "published";
    } else {
      target.value = derived_target(its_trials, target.measure);
      target.origin = "derived";
    }
    targets[problem] = target;
  }
  return targets;
}

std::vector<Result> judge(const std::vector<Trial>& trials,
                          const std::vector<Choice>& choices,
                          const std::map<std::string, Target>& targets) {
  std::vector<Result> results;
  for (const Choice& choice : choices) {
    const Trial& trial = trials[choice.trial];
    const auto target = targets.find(choice.problem);
    if (target == targets.end() || !trial.has(target->second.measure)) continue;
    Result result;
    result.choice = choice;
    result.measure = target->second.measure;
    result.performance = trial.spread(result.measure, trial.reported());
    result.on_tuning_seed =
        scores_of(run_on(trial, choice.tuning_seed), result.measure)[trial.reported()];
    for (const TrialRun& run : trial.runs) {
      result.diverged += run.has_diverged ? 1 : 0;
      result.seeds.push_back(scores_of(run, result.measure)[trial.reported()]);
    }
    time(trial, target->second, result);
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace flightdeck::study
