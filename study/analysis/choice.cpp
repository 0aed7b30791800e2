// SPDX-License-Identifier: MIT
#include "study/analysis/choice.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

namespace flightdeck::study {
namespace {

bool begins_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

int64_t number_in(const std::string& sample) {
  const size_t dash = sample.rfind('-');
  return dash == std::string::npos ? 0 : std::strtoll(sample.c_str() + dash + 1, nullptr, 10);
}

bool is_of_search(const std::string& sample) {
  return begins_with(sample, "random-") || begins_with(sample, "refined-");
}

// Returns whether something was tried for the budget that the next smaller one lacks.
bool has_own_sample(const std::string& sample, const std::string& budget) {
  if (!is_in_budget(sample, budget)) return false;
  if (budget == "medium") return !is_in_budget(sample, "small");
  if (budget == "large") return !is_in_budget(sample, "medium");
  return true;
}

uint64_t most_common_seed(const std::vector<Trial>& trials, const std::vector<size_t>& members) {
  std::map<uint64_t, int> counts;
  for (const size_t member : members) {
    for (const TrialRun& run : trials[member].runs) ++counts[run.seed];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      });
  return most->first;
}

// Ranks as tuning does; among equals the one with more seeds comes first.
bool is_better(const Trial& a, const Trial& b, uint64_t seed) {
  const RunScore &score_a = run_on(a, seed).score, &score_b = run_on(b, seed).score;
  if (is_better(score_a, score_b)) return true;
  if (is_better(score_b, score_a)) return false;
  if (a.runs.size() != b.runs.size()) return a.runs.size() > b.runs.size();
  return a.sample < b.sample;
}

}  // namespace

const std::vector<std::string>& budgets() {
  static const std::vector<std::string> all = {
      "one_shot", "any", "grid", "small", "medium", "large"};
  return all;
}

int64_t samples_in(const std::string& budget) {
  if (budget == "one_shot") return 1;
  if (budget == "small") return 25;
  if (budget == "medium") return 50;
  return budget == "large" ? 75 : 0;
}

bool is_in_budget(const std::string& sample, const std::string& budget) {
  if (budget == "one_shot") return sample == "default";
  if (budget == "grid") return begins_with(sample, "grid-");
  if (budget == "large") return is_of_search(sample);
  if (budget == "any") {
    return sample != "default" && !begins_with(sample, "grid-") && !is_of_search(sample);
  }
  return begins_with(sample, "random-") && number_in(sample) < samples_in(budget);
}

const TrialRun& run_on(const Trial& trial, uint64_t seed) {
  for (const TrialRun& run : trial.runs) {
    if (run.seed == seed) return run;
  }
  return trial.runs.front();
}

std::vector<Choice> choose(const std::vector<Trial>& trials) {
  // Each problem, competitor and schedule is tuned on its own.
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<size_t>> tuned;
  for (size_t k = 0; k < trials.size(); ++k) {
    const Setting& setting = trials[k].setting;
    tuned[{setting.problem, trials[k].competitor(), setting.schedule}].push_back(k);
  }
  std::vector<Choice> choices;
  for (const auto& [what, candidates] : tuned) {
    for (const std::string& budget : budgets()) {
      std::vector<size_t> members;
      bool has_own = false;
      for (const size_t k : candidates) {
        if (is_in_budget(trials[k].sample, budget)) members.push_back(k);
        has_own = has_own || has_own_sample(trials[k].sample, budget);
      }
      if (!has_own) continue;
      Choice choice;
      std::tie(choice.problem, choice.competitor, choice.schedule) = what;
      choice.budget = budget;
      choice.samples = static_cast<int64_t>(members.size());
      choice.tuning_seed = most_common_seed(trials, members);
      choice.trial = *std::min_element(members.begin(), members.end(), [&](size_t a, size_t b) {
        return is_better(trials[a], trials[b], choice.tuning_seed);
      });
      choices.push_back(std::move(choice));
    }
  }
  return choices;
}

}  // namespace flightdeck::study
