// SPDX-License-Identifier: MIT
// Tables of performance, speed and standing.
#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "study/analysis/number_text.h"
#include "study/analysis/report_parts.h"

namespace flightdeck::study {
namespace {

using Pick = std::map<std::pair<std::string, std::string>, const Result*>;  // problem, competitor

Pick headline_pick(const Analysis& analysis) {
  Pick pick;
  for (const size_t k : analysis.headline) {
    const Result& result = analysis.results[k];
    pick[{result.choice.problem, result.choice.competitor}] = &result;
  }
  return pick;
}

// Returns 1 for the best of a problem, 0 for the worst. Goes by ranks, so that one diverged run
// does not make all others look alike.
double shade(const Pick& pick, const Result& result, double (*value)(const Result&)) {
  int better = 0, others = 0;
  for (const auto& [what, other] : pick) {
    if (what.first != result.choice.problem || other == &result) continue;
    ++others;
    better += value(*other) < value(result) ? 1 : 0;
  }
  return others == 0 ? NAN : 1.0 - static_cast<double>(better) / others;
}

double badness(const Result& result) {
  return result.measure.is_accuracy ? -result.performance.mean : result.performance.mean;
}

// Weighs seeds that never reach the target more than any time of those that do.
double slowness(const Result& result) {
  constexpr double kLongerThanAny = 1e12;
  if (result.not_reached == result.epochs.count) return std::numeric_limits<double>::infinity();
  const double never =
      static_cast<double>(result.not_reached) / static_cast<double>(result.epochs.count);
  return never * kLongerThanAny + result.epochs_if_reached.mean;
}

std::string setting_hint(const Analysis& analysis, const Result& result) {
  const Choice& choice = result.choice;
  const Trial& trial = analysis.trials[choice.trial];
  std::string hint = choice.competitor + " on " + choice.problem + ", " + choice.schedule + ", " +
                     choice.budget + " budget, " + std::to_string(trial.runs.size()) + " seeds";
  if (result.diverged > 0) hint += ", " + std::to_string(result.diverged) + " diverged";
  if (result.not_reached < result.epochs.count) {
    const double steps = static_cast<double>(trial.steps_per_epoch);
    hint += "; " + fixed(steps * result.epochs_if_reached.mean, 0) + " iterations to the target";
  }
  for (const auto& [name, value] : trial.setting.hyperparameters) {
    hint += "; " + name + " " + significant(value, 3);
  }
  return hint;
}

std::string column_of(const Analysis& analysis, const std::string& problem) {
  const auto target = analysis.targets.find(problem);
  if (target == analysis.targets.end()) return problem;
  return problem + (target->second.measure.is_accuracy ? " (%)" : "");
}

ShownTable by_problem(const Analysis& analysis,
                      const Pick& pick,
                      double (*value)(const Result&),
                      std::string (*text)(const Result&)) {
  ShownTable table;
  table.columns = {"optimizer"};
  std::vector<std::string> problems;
  for (const std::string& problem : analysis.problems) {
    const auto has_problem = [&](const auto& entry) { return entry.first.first == problem; };
    if (std::any_of(pick.begin(), pick.end(), has_problem)) problems.push_back(problem);
  }
  for (const std::string& problem : problems) table.columns.push_back(column_of(analysis, problem));
  for (const std::string& competitor : analysis.competitors) {
    std::vector<TableCell> row = {{competitor}};
    bool has_any = false;
    for (const std::string& problem : problems) {
      const auto at = pick.find({problem, competitor});
      if (at == pick.end()) {
        row.push_back({"-"});
        continue;
      }
      has_any = true;
      const Result& result = *at->second;
      const bool is_never = value == slowness && result.not_reached == result.epochs.count;
      row.push_back({text(result),
                     is_never ? NAN : shade(pick, result, value),
                     setting_hint(analysis, result)});
    }
    if (has_any) table.rows.push_back(std::move(row));
  }
  return table;
}

std::string performance_text(const Result& result) {
  const std::string lost =
      result.diverged > 0 ? " (" + std::to_string(result.diverged) + " div.)" : "";
  return spread_text(result.measure, result.performance) + lost;
}

std::string speed_text(const Result& result) {
  const auto seeds = result.epochs.count;
  if (result.not_reached == seeds) return "never";
  const std::string text = fixed(result.epochs_if_reached.mean, 1);
  if (result.not_reached == 0) return text;
  return text + " (" + std::to_string(result.not_reached) + "/" + std::to_string(seeds) + " never)";
}

const Result* best_by(const std::vector<const Result*>& results, double (*value)(const Result&)) {
  return *std::min_element(results.begin(), results.end(), [&](const Result* a, const Result* b) {
    return value(*a) < value(*b);
  });
}

}  // namespace

ShownTable winners_table(const Analysis& analysis) {
  ShownTable table;
  table.id = "winners";
  table.title = "Who wins where";
  table.caption =
      "For each problem the optimizer with the best performance, the one that is next, and the one "
      "that reaches the target first.";
  table.columns = {"problem",
                   "measure",
                   "best",
                   "performance",
                   "next",
                   "performance",
                   "fastest",
                   "epochs to target"};
  table.word_columns = {0, 1, 2, 4, 6};
  for (const std::string& problem : analysis.problems) {
    std::vector<const Result*> results = analysis.headline_of(problem);
    if (results.empty()) continue;
    const Result* fastest = best_by(results, slowness);
    const bool is_reached = fastest->not_reached < fastest->epochs.count;
    std::stable_sort(results.begin(), results.end(), [](const Result* a, const Result* b) {
      return badness(*a) < badness(*b);
    });
    const Result* next = results.size() > 1 ? results[1] : nullptr;
    table.rows.push_back(
        {{problem},
         {results[0]->measure.name() + (results[0]->measure.is_accuracy ? " (%)" : "")},
         {results[0]->choice.competitor, NAN, setting_hint(analysis, *results[0])},
         {spread_text(results[0]->measure, results[0]->performance)},
         {next == nullptr ? "-" : next->choice.competitor},
         {next == nullptr ? "-" : spread_text(next->measure, next->performance)},
         {is_reached ? fastest->choice.competitor : "none"},
         {is_reached ? speed_text(*fastest) : "-"}});
  }
  return table;
}

ShownTable standing_table(const Analysis& analysis) {
  ShownTable table;
  table.id = "standing";
  table.title = "Over all problems";
  table.caption =
      "Wins and mean rank by performance (1 is best), and the score of the performance profile "
      "(1: the fastest to the target on every problem).";
  table.columns = {"optimizer", "problems", "wins", "mean rank", "profile score"};
  std::map<std::string, std::vector<double>> ranks;
  for (const std::string& problem : analysis.problems) {
    const std::vector<const Result*> results = analysis.headline_of(problem);
    for (const Result* result : results) {
      const auto better = std::count_if(results.begin(), results.end(), [&](const Result* other) {
        return badness(*other) < badness(*result);
      });
      ranks[result->choice.competitor].push_back(1 + static_cast<double>(better));
    }
  }
  for (const Profile& profile : analysis.profiles) {
    const std::vector<double>& own = ranks[profile.competitor];
    const auto wins = std::count(own.begin(), own.end(), 1.0);
    table.rows.push_back({{profile.competitor},
                          {std::to_string(own.size())},
                          {std::to_string(wins)},
                          {fixed(spread_of(own).mean, 1)},
                          {fixed(profile.score, 3)}});
  }
  return table;
}

ShownTable performance_table(const Analysis& analysis) {
  ShownTable table = by_problem(analysis, headline_pick(analysis), badness, performance_text);
  table.id = "performance";
  table.title = "Performance after the most tuning there is";
  table.caption =
      "Mean ± standard deviation over seeds of the " + name_of(analysis.options.part) +
      (analysis.options.is_of_losses ? " loss"
                                     : " accuracy in percent, or the loss where there is none,") +
      " of the best setting of the greatest "
      "budget, with the constant schedule if it was run; the darker, the better.";
  return table;
}

ShownTable performance_table(const Analysis& analysis,
                             const std::string& schedule,
                             const std::string& budget) {
  Pick pick;
  for (const Result& result : analysis.results) {
    if (result.choice.schedule != schedule || result.choice.budget != budget) continue;
    pick[{result.choice.problem, result.choice.competitor}] = &result;
  }
  ShownTable table = by_problem(analysis, pick, badness, performance_text);
  table.id = "performance_" + schedule + "_" + budget;
  table.title = "Performance: schedule " + schedule + ", budget " + budget;
  table.caption = "Mean ± standard deviation over seeds, as above.";
  table.is_folded = true;
  return table;
}

ShownTable speed_table(const Analysis& analysis) {
  ShownTable table = by_problem(analysis, headline_pick(analysis), slowness, speed_text);
  for (std::string& column : table.columns) {
    const size_t unit = column.find(" (%)");
    if (unit != std::string::npos) column.resize(unit);
  }
  table.id = "speed";
  table.title = "Epochs to the target";
  table.caption =
      "Mean of the first evaluated epoch at the convergence performance, over the seeds that reach "
      "it; how many never do, diverged ones among them, is said beside it and weighs first; point "
      "at a cell for iterations, seconds are in speed.csv.";
  return table;
}

ShownTable target_table(const Analysis& analysis) {
  ShownTable table;
  table.id = "targets";
  table.title = "Targets: the convergence performances";
  table.caption =
      "What counts as solved: published, given by the reader, or derived: 98 % of the way from the "
      "untrained score to the median of the final ones.";
  table.columns = {"problem", "measure", "target", "origin"};
  table.word_columns = {0, 1, 3};
  table.is_folded = true;
  for (const std::string& problem : analysis.problems) {
    const auto at = analysis.targets.find(problem);
    if (at == analysis.targets.end()) continue;
    const Target& target = at->second;
    table.rows.push_back({{problem},
                          {target.measure.name() + (target.measure.is_accuracy ? " (%)" : "")},
                          {score_text(target.measure, target.value)},
                          {target.origin}});
  }
  return table;
}

ShownTable profile_table(const Analysis& analysis) {
  ShownTable table;
  table.id = "profile_scores";
  table.title = "Scores of the performance profiles";
  table.caption =
      "Area under the profile between factors 1 and 4 over its width, and on how many problems the "
      "target is reached by at least half of the seeds.";
  table.columns = {"optimizer", "score", "reached"};
  for (const Profile& profile : analysis.profiles) {
    table.rows.push_back(
        {{profile.competitor},
         {fixed(profile.score, 3), profile.score},
         {std::to_string(profile.reached) + " of " + std::to_string(profile.factors.size())}});
  }
  return table;
}

}  // namespace flightdeck::study
