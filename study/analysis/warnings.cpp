// SPDX-License-Identifier: MIT
#include "study/analysis/warnings.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace flightdeck::study {
namespace {

template <typename Values>
std::string listed(const Values& values) {
  std::string text;
  for (const int64_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

// Says what holds for several problems once, and names them all.
class SaidOnce {
 public:
  void say(const std::string& problem, const std::string& text) {
    for (auto& [said, problems] : all_) {
      if (said == text) {
        problems += ", " + problem;
        return;
      }
    }
    all_.push_back({text, problem});
  }
  void add_to(std::vector<std::string>& warnings) const {
    for (const auto& [text, problems] : all_) warnings.push_back(problems + ": " + text);
  }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

void warn_of_unequal_runs(const Analysis& analysis, const std::string& problem, SaidOnce& said) {
  std::set<int64_t> batch_sizes;
  std::set<bool> synthetic;
  for (const Trial& trial : analysis.trials) {
    if (trial.setting.problem != problem) continue;
    batch_sizes.insert(trial.setting.batch_size);
    synthetic.insert(trial.is_synthetic);
  }
  if (batch_sizes.size() > 1) {
    said.say(problem,
             "runs differ in batch size (" + listed(batch_sizes) +
                 ") and are compared all the same, being of as many epochs");
  }
  if (synthetic.size() > 1) said.say(problem, "runs on synthetic and on real data are mixed");
}

void warn_of_missing_seeds(Analysis& analysis) {
  size_t most = 0;
  std::set<size_t> trials;
  for (const Result& result : analysis.results) trials.insert(result.choice.trial);
  for (const size_t k : trials) most = std::max(most, analysis.trials[k].runs.size());
  int64_t fewer = 0;
  std::string example;
  for (const size_t k : trials) {
    const Trial& trial = analysis.trials[k];
    if (trial.runs.size() == most || trial.is_baseline) continue;
    ++fewer;
    example = trial.setting.optimizer + " on " + trial.setting.problem + ", " +
              trial.setting.schedule + (trial.sample.empty() ? "" : ", " + trial.sample) + ": " +
              std::to_string(trial.runs.size());
  }
  if (fewer > 0) {
    analysis.warnings.push_back(std::to_string(fewer) + " of " + std::to_string(trials.size()) +
                                " chosen settings have fewer than " + std::to_string(most) +
                                " seeds (" + example + ")");
  }
  if (most == 1) analysis.warnings.push_back("there is one seed only: spreads are all zero");
}

void warn_of_missing_samples(Analysis& analysis) {
  std::set<std::string> told;
  for (const Result& result : analysis.results) {
    const Choice& choice = result.choice;
    const int64_t wanted = samples_in(choice.budget);
    if (choice.samples >= wanted || !told.insert(choice.budget).second) continue;
    analysis.warnings.push_back("the " + choice.budget + " budget has " + std::to_string(wanted) +
                                " samples; " + choice.competitor + " on " + choice.problem +
                                " has " + std::to_string(choice.samples));
  }
}

void warn_of_targets(const Analysis& analysis, SaidOnce& said) {
  for (const auto& [problem, target] : analysis.targets) {
    bool is_reached = false;
    for (const Result* result : analysis.headline_of(problem)) {
      const Trial& trial = analysis.trials[result->choice.trial];
      is_reached = is_reached || result->not_reached < static_cast<int64_t>(trial.runs.size());
    }
    if (!is_reached) said.say(problem, "nothing that was tuned best reaches the target");
  }
}

std::string version_of(const Outcome& outcome) {
  return outcome.version.empty() ? "one before versions were kept" : outcome.version;
}

}  // namespace

void warn_of_versions(Analysis& analysis,
                      const std::vector<Outcome>& outcomes,
                      const std::vector<Outcome>& baselines) {
  std::map<std::string, int64_t> counts;
  for (const Outcome& outcome : outcomes) ++counts[version_of(outcome)];
  std::string text;
  for (const auto& [version, count] : counts) {
    text += (text.empty() ? "" : ", ") + version + " (" + std::to_string(count) + " runs)";
  }
  if (counts.size() > 1) {
    analysis.warnings.push_back("runs come from different versions of flightdeck: " + text +
                                "; compare those of one version, or see the changelog for what "
                                "changed between them");
  }
  // Baselines of an older version come with the program; its documents say what they may differ by.
  std::set<std::string> others;
  for (const Outcome& baseline : baselines) {
    if (!baseline.version.empty() && counts.count(baseline.version) == 0) {
      others.insert(baseline.version);
    }
  }
  for (const std::string& version : others) {
    analysis.warnings.push_back("baselines come from flightdeck " + version + ", the runs from " +
                                text);
  }
}

void warn(Analysis& analysis) {
  if (analysis.has_synthetic) {
    analysis.warnings.insert(analysis.warnings.begin(),
                             "some data are SYNTHETIC: numbers say nothing about the real data");
  }
  SaidOnce said;
  for (const std::string& problem : analysis.problems) {
    warn_of_unequal_runs(analysis, problem, said);
  }
  warn_of_targets(analysis, said);
  said.add_to(analysis.warnings);
  warn_of_missing_seeds(analysis);
  warn_of_missing_samples(analysis);
}

}  // namespace flightdeck::study
