// SPDX-License-Identifier: MIT
#include "study/analysis/analysis.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

#include "study/analysis/warnings.h"

namespace flightdeck::study {
namespace {

// Returns a key that sorts problems of the benchmark in its order, then all others by name.
auto problem_order(const std::vector<std::string>& benchmark, const std::string& name) {
  const auto at = std::find(benchmark.begin(), benchmark.end(), name);
  return std::make_tuple(at - benchmark.begin(), name);
}

// Returns the baselines of the same problems on the same kind of data.
std::vector<Outcome> fitting(const std::vector<Outcome>& baselines,
                             const std::vector<Trial>& ours) {
  std::set<std::pair<std::string, bool>> kinds;
  for (const Trial& trial : ours) kinds.insert({trial.setting.problem, trial.is_synthetic});
  std::vector<Outcome> kept;
  for (const Outcome& baseline : baselines) {
    if (kinds.count({baseline.setting.problem, baseline.is_synthetic}) != 0) {
      kept.push_back(baseline);
    }
  }
  return kept;
}

// Says how long a training was. Batch sizes may differ: an epoch is as long all the same.
using TrainingBudget = std::pair<int64_t, int64_t>;  // epochs, samples of an epoch

// Samples count in whole batches, so those of the same data differ by less than a batch.
bool is_same(const TrainingBudget& a, const TrainingBudget& b, int64_t batch_size) {
  return a.first == b.first && std::abs(a.second - b.second) < batch_size;
}

TrainingBudget budget_of(const Trial& trial) {
  return {trial.setting.epochs, trial.steps_per_epoch * trial.setting.batch_size};
}

// Returns the budget that most runs of each problem have; of two equally common ones the longer.
std::map<std::string, TrainingBudget> common_budgets(const std::vector<Trial>& trials) {
  std::map<std::string, std::map<TrainingBudget, size_t>> counts;
  for (const Trial& trial : trials) {
    counts[trial.setting.problem][budget_of(trial)] += trial.runs.size();
  }
  std::map<std::string, TrainingBudget> common;
  for (const auto& [problem, of_problem] : counts) {
    size_t most = 0;
    for (const auto& [budget, count] : of_problem) {
      if (count < most) continue;
      most = count;
      common[problem] = budget;
    }
  }
  return common;
}

// Takes out what was trained for longer or shorter than most of the problem's runs, because ranks
// would compare training times. Returns "mnist_mlp (3 epochs, not 100)" and the like.
std::string take_out_other_budgets(std::vector<Trial>& trials,
                                   const std::map<std::string, TrainingBudget>& common,
                                   int64_t& runs) {
  std::map<std::string, std::set<int64_t>> others;
  std::map<std::string, bool> has_other_samples;
  const auto is_other = [&](const Trial& trial) {
    const auto found = common.find(trial.setting.problem);
    const TrainingBudget budget = budget_of(trial);
    if (found == common.end() || is_same(budget, found->second, trial.setting.batch_size)) {
      return false;
    }
    others[trial.setting.problem].insert(budget.first);
    has_other_samples[trial.setting.problem] |= budget.first == found->second.first;
    runs += static_cast<int64_t>(trial.runs.size());
    return true;
  };
  trials.erase(std::remove_if(trials.begin(), trials.end(), is_other), trials.end());
  std::string text;
  for (const auto& [problem, epochs] : others) {
    std::string listed;
    for (const int64_t count : epochs) {
      listed += (listed.empty() ? "" : ", ") + std::to_string(count);
    }
    text += (text.empty() ? "" : "; ") + problem + " (" + listed + " epochs" +
            (has_other_samples[problem] ? ", of other lengths too" : "") + ", not " +
            std::to_string(common.at(problem).first) + ")";
  }
  return text;
}

void name_all(Analysis& analysis) {
  std::set<std::string> problems, schedules;
  std::set<std::pair<bool, std::string>> competitors;
  for (const Trial& trial : analysis.trials) {
    problems.insert(trial.setting.problem);
    schedules.insert(trial.setting.schedule);
    competitors.insert({trial.is_baseline, trial.competitor()});
    analysis.has_synthetic = analysis.has_synthetic || trial.is_synthetic;
  }
  analysis.problems.assign(problems.begin(), problems.end());
  std::sort(analysis.problems.begin(),
            analysis.problems.end(),
            [&benchmark = analysis.options.benchmark](const std::string& a, const std::string& b) {
              return problem_order(benchmark, a) < problem_order(benchmark, b);
            });
  for (const auto& [is_baseline, name] : competitors) analysis.competitors.push_back(name);
  analysis.schedules.assign(schedules.begin(), schedules.end());
  std::stable_partition(analysis.schedules.begin(),
                        analysis.schedules.end(),
                        [](const std::string& name) { return name == "constant"; });
}

void check_targets(const Analysis& analysis) {
  for (const auto& [problem, value] : analysis.options.targets) {
    if (std::count(analysis.problems.begin(), analysis.problems.end(), problem) != 0) continue;
    std::string names;
    for (const std::string& name : analysis.problems) names += (names.empty() ? "" : ", ") + name;
    throw std::invalid_argument("a target is given for " + problem +
                                ", which has no runs here; there are " + names);
  }
}

// Sorts results by problem and competitor, so that every table has this order.
void sort_results(const Analysis& analysis, std::vector<Result>& results) {
  const auto place = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) - names.begin();
  };
  const auto key = [&](const Result& result) {
    const Choice& choice = result.choice;
    return std::make_tuple(place(analysis.problems, choice.problem),
                           place(analysis.competitors, choice.competitor),
                           place(analysis.schedules, choice.schedule),
                           place(budgets(), choice.budget));
  };
  std::sort(results.begin(), results.end(), [&](const Result& a, const Result& b) {
    return key(a) < key(b);
  });
}

void find_headline(Analysis& analysis) {
  std::vector<Choice> judged;
  for (const Result& result : analysis.results) judged.push_back(result.choice);
  analysis.headline = headline(analysis.trials, judged);
}

// Groups the outcomes into trials, without those of another training budget than most.
void take_trials(const std::vector<Outcome>& outcomes,
                 const std::vector<Outcome>& baselines,
                 Analysis& analysis) {
  Trials ours = group(outcomes, /*are_baselines=*/false);
  Trials theirs = group(fitting(baselines, ours.all), /*are_baselines=*/true);
  analysis.warnings = ours.warnings;
  const std::map<std::string, TrainingBudget> common = common_budgets(ours.all);
  int64_t apart = 0, baselines_apart = 0;
  const std::string other = take_out_other_budgets(ours.all, common, apart);
  if (apart > 0) {
    analysis.warnings.push_back(std::to_string(apart) +
                                " runs are left out, trained for another time than most: " + other +
                                "; analyze them in a folder of their own");
  }
  const std::string longer = take_out_other_budgets(theirs.all, common, baselines_apart);
  if (baselines_apart > 0) {
    analysis.warnings.push_back(std::to_string(baselines_apart) +
                                " runs of our own baselines are left out, trained for another time "
                                "than these: " +
                                longer);
  }
  analysis.runs = ours.runs - apart;
  analysis.diverged = 0;
  for (const Trial& trial : ours.all) {
    for (const TrialRun& run : trial.runs) analysis.diverged += run.has_diverged ? 1 : 0;
  }
  analysis.baseline_runs = theirs.runs - baselines_apart;
  analysis.trials = std::move(ours.all);
  analysis.trials.insert(analysis.trials.end(), theirs.all.begin(), theirs.all.end());
}

}  // namespace

const Result* Analysis::headline_of(const std::string& problem,
                                    const std::string& competitor) const {
  for (const size_t k : headline) {
    const Choice& choice = results[k].choice;
    if (choice.problem == problem && choice.competitor == competitor) return &results[k];
  }
  return nullptr;
}

std::vector<const Result*> Analysis::headline_of(const std::string& problem) const {
  std::vector<const Result*> found;
  for (const size_t k : headline) {
    if (results[k].choice.problem == problem) found.push_back(&results[k]);
  }
  return found;
}

Analysis analyze(const std::vector<Outcome>& outcomes,
                 const std::vector<Outcome>& baselines,
                 const AnalysisOptions& options) {
  Analysis analysis;
  analysis.options = options;
  take_trials(outcomes, baselines, analysis);
  name_all(analysis);
  check_targets(analysis);

  const std::vector<Choice> choices = choose(analysis.trials);
  analysis.targets = find_targets(analysis.trials,
                                  choices,
                                  {options.targets, options.published_targets},
                                  {options.part, !options.is_of_losses});
  analysis.results = judge(analysis.trials, choices, analysis.targets);
  if (analysis.results.size() < choices.size()) {
    analysis.warnings.push_back(std::to_string(choices.size() - analysis.results.size()) + " of " +
                                std::to_string(choices.size()) +
                                " chosen settings have no scores to compare on the " +
                                name_of(options.part) + " set and are left out");
  }
  sort_results(analysis, analysis.results);
  find_headline(analysis);
  analysis.points = tuned_points(analysis.trials, choices, analysis.targets);
  analysis.tuneabilities = tuneabilities(analysis.trials, choices, analysis.points);
  analysis.improvements = improvements(analysis.results);
  analysis.gains = gains(analysis.results);
  std::vector<const Result*> best;
  for (const size_t k : analysis.headline) best.push_back(&analysis.results[k]);
  analysis.profiles = profiles(best);
  analysis.seed_points = seed_points(analysis.trials, choices, analysis.targets);
  analysis.coordinates = coordinates(analysis.problems, analysis.results);
  warn(analysis);
  warn_of_versions(analysis, outcomes, baselines);
  return analysis;
}

Analysis analyze_apart(const std::vector<NamedStudy>& studies,
                       const std::vector<Outcome>& baselines,
                       const AnalysisOptions& options) {
  if (studies.size() < 2) {
    throw std::invalid_argument("one study is given but at least two are kept apart");
  }
  Analysis first = analyze(studies.front().outcomes, baselines, options);
  std::vector<RetunedStudy> retuned = {{studies.front().name, first.trials, first.results}};
  for (size_t k = 1; k < studies.size(); ++k) {
    // Targets may name problems that only the first study has.
    AnalysisOptions others = options;
    others.targets.clear();
    const Analysis next = analyze(studies[k].outcomes, {}, others);
    for (const std::string& warning : next.warnings) {
      first.warnings.push_back(studies[k].name + ": " + warning);
    }
    retuned.push_back({studies[k].name, next.trials, next.results});
  }
  first.retunings = retunings(retuned);
  if (first.retunings.empty()) {
    first.warnings.push_back(
        "the studies have no problem, optimizer, schedule and budget in common: nothing was tuned "
        "twice");
  }
  return first;
}

}  // namespace flightdeck::study
