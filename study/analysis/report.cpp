// SPDX-License-Identifier: MIT
#include "study/analysis/report.h"

#include <algorithm>
#include <set>

#include "study/analysis/competitor.h"
#include "study/analysis/report_parts.h"

namespace flightdeck::study {
namespace {

std::string counted(int64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

std::vector<std::string> facts_of(const Analysis& analysis) {
  const auto optimizers = std::count_if(analysis.competitors.begin(),
                                        analysis.competitors.end(),
                                        [](const std::string& name) { return !is_baseline(name); });
  std::set<uint64_t> seeds;
  for (const Trial& trial : analysis.trials) {
    if (trial.is_baseline) continue;
    for (const TrialRun& run : trial.runs) seeds.insert(run.seed);
  }
  std::vector<std::string> facts = {
      counted(analysis.runs, "run") + ", " + std::to_string(analysis.diverged) + " diverged",
      counted(optimizers, "optimizer"),
      counted(static_cast<int64_t>(analysis.problems.size()), "problem"),
      counted(static_cast<int64_t>(analysis.schedules.size()), "schedule"),
      counted(static_cast<int64_t>(seeds.size()), "seed")};
  if (analysis.baseline_runs > 0) {
    facts.push_back(counted(analysis.baseline_runs, "run") + " of our own baselines");
  }
  return facts;
}

// Returns the budgets that have a result, the least first.
std::vector<std::string> budgets_in(const Analysis& analysis) {
  std::vector<std::string> found;
  for (const std::string& budget : budgets()) {
    for (const Result& result : analysis.results) {
      if (result.choice.budget != budget) continue;
      found.push_back(budget);
      break;
    }
  }
  return found;
}

Section performance_section(const Analysis& analysis) {
  Section section{"performance", "Performance", {performance_table(analysis)}};
  const std::vector<std::string> efforts = budgets_in(analysis);
  if (analysis.schedules.size() * efforts.size() < 2) return section;
  for (const std::string& schedule : analysis.schedules) {
    for (const std::string& budget : efforts) {
      ShownTable table = performance_table(analysis, schedule, budget);
      if (!table.rows.empty()) section.parts.push_back(std::move(table));
    }
  }
  return section;
}

Section speed_section(const Analysis& analysis) {
  Section section{"speed", "Speed", {speed_table(analysis), target_table(analysis)}};
  section.parts.push_back(profile_figure(analysis));
  section.parts.push_back(profile_table(analysis));
  return section;
}

Section curves_section(const Analysis& analysis) {
  Section section{"curves", "Learning curves", {}};
  for (const std::string& problem : analysis.problems) {
    if (!analysis.headline_of(problem).empty()) {
      section.parts.push_back(curves_figure(analysis, problem));
    }
  }
  return section;
}

Section tuneability_section(const Analysis& analysis) {
  Section section{"tuneability", "Tuneability", {tuneability_overview(analysis)}};
  Figure sensitivity = sensitivity_figure(analysis);
  if (!sensitivity.panels.empty()) section.parts.push_back(std::move(sensitivity));
  Figure seeds = seeds_figure(analysis);
  if (!seeds.panels.empty()) section.parts.push_back(std::move(seeds));
  for (const std::string& problem : analysis.problems) {
    ShownTable table = tuneability_table(analysis, problem);
    if (!table.rows.empty()) section.parts.push_back(std::move(table));
  }
  return section;
}

Section improvement_section(const Analysis& analysis) {
  Section section{"improvement", "Untuned against tuned", {}};
  // The published figures show the small budget, so that comes first.
  for (const char* budget : {"small", "grid", "medium", "large", "any"}) {
    const auto has_budget = [&](const Improvement& cell) { return cell.budget == budget; };
    if (std::none_of(analysis.improvements.begin(), analysis.improvements.end(), has_budget)) {
      continue;
    }
    section.parts.push_back(improvement_heatmap(analysis, "", budget));
    for (const std::string& problem : analysis.problems) {
      Heatmap map = improvement_heatmap(analysis, problem, budget);
      if (!map.rows.empty()) section.parts.push_back(std::move(map));
    }
    break;
  }
  // A second matrix shows the greatest budget on the one seed that tuning saw.
  for (const char* budget : {"large", "medium", "small", "grid"}) {
    const size_t before = section.parts.size();
    for (const std::string& problem : analysis.problems) {
      Heatmap map = improvement_on_tuning_seed(analysis, problem, budget);
      if (!map.rows.empty()) section.parts.push_back(std::move(map));
    }
    if (section.parts.size() > before) break;
  }
  return section;
}

// Opens the constant schedule with the greatest budget and folds all others.
Section coordinates_section(const Analysis& analysis) {
  Section section{"coordinates", "All problems at once", {}};
  const Coordinates* open = nullptr;
  for (const Coordinates& figure : analysis.coordinates) {
    if (open == nullptr || (figure.schedule == open->schedule && figure.budget != "one_shot")) {
      open = &figure;
    }
  }
  for (const Coordinates& figure : analysis.coordinates) {
    Figure shown = coordinates_figure(analysis, figure);
    if (shown.legend.size() < 2) continue;
    shown.is_folded = &figure != open;
    section.parts.insert(shown.is_folded ? section.parts.end() : section.parts.begin(),
                         std::move(shown));
  }
  return section;
}

Section retuning_section(const Analysis& analysis) {
  Section section{"retuning", "Tuned again", {}};
  if (analysis.retunings.empty()) return section;
  section.parts.push_back(retuning_table(analysis));
  for (Figure& figure : retuning_figures(analysis)) section.parts.push_back(std::move(figure));
  return section;
}

Section gain_section(const Analysis& analysis) {
  Section section{"gains", "What tuning and schedules bring", {}};
  if (summarise(analysis.gains, &Gain::over_one_shot).size() > 1) {
    section.parts.push_back(gain_figure(analysis));
    section.parts.push_back(gain_table(analysis,
                                       "gain_over_one_shot",
                                       "Gain over default hyperparameters and constant schedule",
                                       "Median over problems and optimizers of the relative gain "
                                       "over the one-shot result with the constant schedule.",
                                       &Gain::over_one_shot));
  }
  ShownTable budget = gain_table(analysis,
                                 "gain_of_budget",
                                 "Gain of each budget over the next smaller one",
                                 "Median over problems and optimizers of the relative gain over "
                                 "the next smaller budget with the same schedule.",
                                 &Gain::over_less_tuning);
  if (!budget.rows.empty()) section.parts.push_back(std::move(budget));
  ShownTable schedule = gain_table(analysis,
                                   "gain_of_schedule",
                                   "Gain of each schedule over the constant one",
                                   "Median over problems and optimizers of the relative gain "
                                   "over the constant schedule with the same budget.",
                                   &Gain::over_constant);
  if (!schedule.rows.empty()) section.parts.push_back(std::move(schedule));
  return section;
}

}  // namespace

Look look_of(const std::vector<std::string>& competitors, const std::string& competitor) {
  std::vector<std::string> optimizers;
  for (const std::string& name : competitors) {
    const std::string optimizer = optimizer_of(name);
    if (std::count(optimizers.begin(), optimizers.end(), optimizer) == 0) {
      optimizers.push_back(optimizer);
    }
  }
  const auto at = std::find(optimizers.begin(), optimizers.end(), optimizer_of(competitor));
  const int place = static_cast<int>(at - optimizers.begin());
  const int count = static_cast<int>(colours().size());
  return {place % count, place / count % 4, is_baseline(competitor)};
}

bool ShownTable::has_words(size_t column) const {
  return std::find(word_columns.begin(), word_columns.end(), column) != word_columns.end();
}

AnalysisReport make_report(const Analysis& analysis) {
  AnalysisReport report;
  report.title = "Comparison of optimizers";
  report.facts = facts_of(analysis);
  report.warnings = analysis.warnings;
  report.competitors = analysis.competitors;
  report.sections.push_back({"summary", "Summary", {winners_table(analysis)}});
  if (analysis.competitors.size() > 1) {
    report.sections.back().parts.push_back(standing_table(analysis));
  }
  for (Section section : {performance_section(analysis),
                          coordinates_section(analysis),
                          retuning_section(analysis),
                          speed_section(analysis),
                          curves_section(analysis),
                          tuneability_section(analysis),
                          improvement_section(analysis),
                          gain_section(analysis)}) {
    if (!section.parts.empty()) report.sections.push_back(std::move(section));
  }
  return report;
}

}  // namespace flightdeck::study
