// SPDX-License-Identifier: MIT
// Tables about tuning: tuneability and gains.
#include <algorithm>
#include <map>

#include "study/analysis/number_text.h"
#include "study/analysis/report_parts.h"

namespace flightdeck::study {
namespace {

// Finds the row of the headline's schedule and budget; null if nothing was tuned.
const Tuneability* tuneability_of(const Analysis& analysis, const Result* result) {
  if (result == nullptr) return nullptr;
  const Choice& choice = result->choice;
  for (const Tuneability& row : analysis.tuneabilities) {
    if (row.problem == choice.problem && row.competitor == choice.competitor &&
        row.schedule == choice.schedule && row.budget == choice.budget) {
      return &row;
    }
  }
  return nullptr;
}

std::string hyperparameters_text(const std::map<std::string, double>& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += (text.empty() ? "" : ", ") + name + " " + significant(value, 3);
  }
  return text;
}

TableCell interior_cell(const Tuneability& row) {
  if (!row.is_on_grid) return {"-", NAN, "no grid: draws have no ends"};
  return row.is_interior ? TableCell{"yes"} : TableCell{"no", NAN, row.at_edge};
}

}  // namespace

ShownTable tuneability_overview(const Analysis& analysis) {
  ShownTable table;
  table.id = "tuneability";
  table.title = "Share of tuning runs within 10 % of the best";
  table.caption =
      "How forgiving an optimizer is: of the settings tried in tuning, the percentage whose "
      "performance is within 10 % of the optimizer's own best; the learning rate of the best "
      "setting follows.";
  table.columns = {"optimizer"};
  std::vector<std::string> problems;
  for (const std::string& problem : analysis.problems) {
    const std::vector<const Result*> results = analysis.headline_of(problem);
    const auto is_tuned = [&](const Result* result) {
      return tuneability_of(analysis, result) != nullptr;
    };
    if (std::any_of(results.begin(), results.end(), is_tuned)) problems.push_back(problem);
  }
  table.columns.insert(table.columns.end(), problems.begin(), problems.end());
  for (const std::string& competitor : analysis.competitors) {
    std::vector<TableCell> row = {{competitor}};
    bool has_any = false;
    for (const std::string& problem : problems) {
      const Tuneability* found =
          tuneability_of(analysis, analysis.headline_of(problem, competitor));
      if (found == nullptr) {
        row.push_back({"-"});
        continue;
      }
      has_any = true;
      const auto rate = found->best.find("learning_rate");
      row.push_back({fixed(100 * found->within_10, 0) + " %" +
                         (rate == found->best.end() ? "" : ", " + significant(rate->second, 2)),
                     found->within_10,
                     hyperparameters_text(found->best)});
    }
    if (has_any) table.rows.push_back(std::move(row));
  }
  return table;
}

ShownTable tuneability_table(const Analysis& analysis, const std::string& problem) {
  ShownTable table;
  table.id = "tuneability_" + problem;
  table.title = "Tuneability: " + problem;
  table.caption =
      "Best hyperparameters, whether they lie inside of the grid or at an end of it (a wider grid "
      "may do better), how many settings were tried and diverged, the shares within 1 % and 10 % "
      "of the best, and what the median setting reaches relative to it.";
  table.columns = {"optimizer",
                   "best hyperparameters",
                   "interior",
                   "tried",
                   "diverged",
                   "within 1 %",
                   "within 10 %",
                   "median"};
  table.word_columns = {0, 1, 2};
  table.is_folded = true;
  for (const std::string& competitor : analysis.competitors) {
    const Tuneability* found = tuneability_of(analysis, analysis.headline_of(problem, competitor));
    if (found == nullptr) continue;
    table.rows.push_back({{competitor},
                          {hyperparameters_text(found->best)},
                          interior_cell(*found),
                          {std::to_string(found->samples)},
                          {std::to_string(found->diverged)},
                          {fixed(100 * found->within_1, 0) + " %", found->within_1},
                          {fixed(100 * found->within_10, 0) + " %", found->within_10},
                          {fixed(found->median_rel, 3), found->median_rel}});
  }
  return table;
}

ShownTable gain_table(const Analysis& analysis,
                      const std::string& id,
                      const std::string& title,
                      const std::string& caption,
                      double Gain::*kind) {
  ShownTable table{id, title, caption, {"schedule"}, {}};
  const std::vector<GainSummary> summaries = summarise(analysis.gains, kind);
  std::vector<std::string> efforts;
  for (const std::string& budget : budgets()) {
    const auto has_budget = [&](const GainSummary& row) { return row.budget == budget; };
    if (std::any_of(summaries.begin(), summaries.end(), has_budget)) efforts.push_back(budget);
  }
  table.columns.insert(table.columns.end(), efforts.begin(), efforts.end());
  for (const std::string& schedule : analysis.schedules) {
    std::vector<TableCell> row = {{schedule}};
    bool has_any = false;
    for (const std::string& budget : efforts) {
      TableCell cell{"-"};
      for (const GainSummary& found : summaries) {
        if (found.schedule != schedule || found.budget != budget) continue;
        has_any = true;
        cell = {gain_text(found.middle),
                NAN,
                "quartiles " + gain_text(found.lower) + " and " + gain_text(found.upper) + ", " +
                    std::to_string(found.count) + " pairs of optimizer and problem"};
      }
      row.push_back(std::move(cell));
    }
    if (has_any) table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace flightdeck::study
