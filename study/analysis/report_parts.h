// SPDX-License-Identifier: MIT
// The tables and figures of the report, one function each.
#pragma once

#include <string>
#include <vector>

#include "study/analysis/report.h"

namespace flightdeck::study {

// Says who wins where, one row a problem.
ShownTable winners_table(const Analysis& analysis);
// Ranks optimizers over all problems: wins, mean rank, score.
ShownTable standing_table(const Analysis& analysis);
// Shows optimizers by problems, for the headline results.
ShownTable performance_table(const Analysis& analysis);
// Shows the same for one schedule and budget.
ShownTable performance_table(const Analysis& analysis,
                             const std::string& schedule,
                             const std::string& budget);
ShownTable speed_table(const Analysis& analysis);
ShownTable target_table(const Analysis& analysis);
ShownTable tuneability_overview(const Analysis& analysis);
ShownTable tuneability_table(const Analysis& analysis, const std::string& problem);
// Shows median gains, schedules by budgets.
ShownTable gain_table(const Analysis& analysis,
                      const std::string& id,
                      const std::string& title,
                      const std::string& caption,
                      double Gain::*kind);
ShownTable profile_table(const Analysis& analysis);

Figure curves_figure(const Analysis& analysis, const std::string& problem);
Figure sensitivity_figure(const Analysis& analysis);
Figure profile_figure(const Analysis& analysis);
Figure gain_figure(const Analysis& analysis);
Figure coordinates_figure(const Analysis& analysis, const Coordinates& figure);
// Shows all seeds at every learning rate; has no panels where settings have one seed each.
Figure seeds_figure(const Analysis& analysis);
ShownTable retuning_table(const Analysis& analysis);
std::vector<Figure> retuning_figures(const Analysis& analysis);
// Shows the mean of relative gains over problems if `problem` is empty.
Heatmap improvement_heatmap(const Analysis& analysis,
                            const std::string& problem,
                            const std::string& budget);
// Shows absolute gains on one problem, on the seed of tuning alone.
Heatmap improvement_on_tuning_seed(const Analysis& analysis,
                                   const std::string& problem,
                                   const std::string& budget);

// Sets limits that leave room for what matters: the 20 % and 80 % percentiles of every line, its
// last value, and the level. What is ten times their median and more is left out.
void fit_heights(Panel& panel);

}  // namespace flightdeck::study
