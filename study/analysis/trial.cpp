// SPDX-License-Identifier: MIT
#include "study/analysis/trial.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace flightdeck::study {
namespace {

auto key_of(const Outcome& outcome) {
  const Setting& setting = outcome.setting;
  const auto tag = outcome.tags.find("sample");
  const std::string sample = tag == outcome.tags.end() ? "" : tag->second;
  // Runs on other data, or on a part of it, repeat nothing.
  return std::make_tuple(setting.problem,
                         setting.optimizer,
                         setting.schedule,
                         sample,
                         setting.hyperparameters,
                         setting.batch_size,
                         setting.epochs,
                         outcome.is_synthetic,
                         outcome.steps_per_epoch);
}

std::string told(const Outcome& outcome) {
  const Setting& setting = outcome.setting;
  return setting.problem + ", " + setting.optimizer + ", " + setting.schedule + ", seed " +
         std::to_string(outcome.seed);
}

// Returns the scores at `epochs`; a run that did not stop early was evaluated at all of them. What
// is missing or not finite becomes the untrained score.
std::vector<double> filled(const Outcome& outcome,
                           const std::vector<double>& scores,
                           const std::vector<int64_t>& epochs,
                           bool& has_filled) {
  std::vector<double> values;
  if (scores.empty()) return values;
  for (const int64_t epoch : epochs) {
    const auto at = std::lower_bound(outcome.evaluated.begin(), outcome.evaluated.end(), epoch);
    const bool is_there = at != outcome.evaluated.end() && *at == epoch;
    double value = is_there ? scores[static_cast<size_t>(at - outcome.evaluated.begin())] : NAN;
    if (!std::isfinite(value) || is_after_divergence(outcome, epoch)) {
      has_filled = true;
      value = scores.front();
    }
    values.push_back(value);
  }
  return values;
}

TrialRun run_of(const Outcome& outcome, const std::vector<int64_t>& epochs) {
  TrialRun run;
  run.seed = outcome.seed;
  run.has_diverged = outcome.ending == Ending::kDiverged;
  run.score = score_of(outcome);
  for (const MeasuredPart part :
       {MeasuredPart::kTrain, MeasuredPart::kValid, MeasuredPart::kTest}) {
    const Curve& from = curve_of(outcome, part);
    Curve& into = curve_of(run, part);
    into.loss = filled(outcome, from.loss, epochs, run.has_diverged);
    into.accuracy = filled(outcome, from.accuracy, epochs, run.has_diverged);
  }
  if (outcome.steps > 0) {
    run.seconds_per_epoch = outcome.training_seconds / static_cast<double>(outcome.steps) *
                            static_cast<double>(outcome.steps_per_epoch);
  }
  return run;
}

// Returns the epochs at which all runs that did not diverge were evaluated.
std::vector<int64_t> common_epochs(const std::map<uint64_t, const Outcome*>& seeds) {
  std::vector<int64_t> common;
  bool is_first = true;
  for (const auto& [seed, outcome] : seeds) {
    if (outcome->ending == Ending::kDiverged) continue;
    std::vector<int64_t> both;
    std::set_intersection(common.begin(),
                          common.end(),
                          outcome->evaluated.begin(),
                          outcome->evaluated.end(),
                          std::back_inserter(both));
    common = is_first ? outcome->evaluated : both;
    is_first = false;
  }
  if (!is_first) return common;
  // All diverged, so this takes their own epochs and those that they did not come to.
  std::set<int64_t> every;
  for (const auto& [seed, outcome] : seeds) {
    every.insert(outcome->evaluated.begin(), outcome->evaluated.end());
    every.insert({outcome->reported_epoch, outcome->setting.epochs});
  }
  return {every.begin(), every.end()};
}

Trial trial_of(const std::map<uint64_t, const Outcome*>& seeds) {
  const Outcome& any = *seeds.begin()->second;
  Trial trial;
  trial.setting = any.setting;
  trial.sample = std::get<3>(key_of(any));
  trial.is_synthetic = any.is_synthetic;
  trial.steps_per_epoch = any.steps_per_epoch;
  trial.reported_epoch = any.reported_epoch;
  trial.evaluated = common_epochs(seeds);
  for (const auto& [seed, outcome] : seeds) trial.runs.push_back(run_of(*outcome, trial.evaluated));
  return trial;
}

// Says why an outcome cannot be counted; empty if it can.
std::string why_not(const Outcome& outcome) {
  if (outcome.evaluated.empty()) return "it has no evaluation";
  if (outcome.evaluated.front() != 0) return "the untrained scores are missing";
  if (!std::is_sorted(outcome.evaluated.begin(), outcome.evaluated.end())) {
    return "its epochs are not in order";
  }
  for (const MeasuredPart part :
       {MeasuredPart::kTrain, MeasuredPart::kValid, MeasuredPart::kTest}) {
    const Curve& curve = curve_of(outcome, part);
    for (const std::vector<double>* scores : {&curve.loss, &curve.accuracy}) {
      if (!scores->empty() && !std::isfinite(scores->front())) {
        return "its untrained scores are not finite";
      }
    }
  }
  return "";
}

}  // namespace

std::string Trial::competitor() const {
  return setting.optimizer + (is_baseline ? " (baseline)" : "");
}

bool Trial::has(const Measure& measure) const {
  return !evaluated.empty() && std::all_of(runs.begin(), runs.end(), [&](const TrialRun& run) {
    return !scores_of(run, measure).empty();
  });
}

Measure Trial::measure(MeasuredPart part) const { return {part, has({part, true})}; }

size_t Trial::reported() const {
  const auto after = std::upper_bound(evaluated.begin(), evaluated.end(), reported_epoch);
  return after == evaluated.begin() ? 0 : static_cast<size_t>(after - evaluated.begin()) - 1;
}

Spread Trial::spread(const Measure& measure, size_t position) const {
  std::vector<double> values;
  for (const TrialRun& run : runs) values.push_back(scores_of(run, measure)[position]);
  return spread_of(values);
}

double Trial::quantile(const Measure& measure, size_t position, double share) const {
  std::vector<double> values;
  for (const TrialRun& run : runs) values.push_back(scores_of(run, measure)[position]);
  return percentile(std::move(values), share);
}

Trials group(const std::vector<Outcome>& outcomes, bool are_baselines) {
  Trials trials;
  std::map<decltype(key_of(Outcome())), std::map<uint64_t, const Outcome*>> groups;
  for (const Outcome& outcome : outcomes) {
    const std::string reason = why_not(outcome);
    if (!reason.empty()) {
      trials.warnings.push_back("left out " + told(outcome) + ": " + reason);
    } else if (outcome.ending == Ending::kInterrupted) {
      ++trials.interrupted;
    } else {
      const Outcome*& slot = groups[key_of(outcome)][outcome.seed];
      if (slot != nullptr) {
        trials.warnings.push_back("there are two runs of " + told(outcome) + "; the last counts");
      }
      slot = &outcome;
    }
  }
  if (trials.interrupted > 0) {
    trials.warnings.push_back(std::to_string(trials.interrupted) +
                              " runs were interrupted and are left out; resume them");
  }
  for (const auto& [key, seeds] : groups) {
    Trial trial = trial_of(seeds);
    trial.is_baseline = are_baselines;
    trials.runs += static_cast<int64_t>(trial.runs.size());
    for (const TrialRun& run : trial.runs) trials.diverged += run.has_diverged ? 1 : 0;
    trials.all.push_back(std::move(trial));
  }
  return trials;
}

}  // namespace flightdeck::study
