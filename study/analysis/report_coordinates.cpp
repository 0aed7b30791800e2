// SPDX-License-Identifier: MIT
// Figures of many problems at once, of all seeds, and of tunings that were repeated.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "study/analysis/number_text.h"
#include "study/analysis/report_parts.h"

namespace flightdeck::study {
namespace {

constexpr const char* kBarOf = "adam";  // whose deviation is drawn, as published

std::string setting_name(const std::string& schedule, const std::string& budget) {
  return "schedule " + schedule + ", budget " + budget;
}

// Makes an axis for each problem, with its best score at the top.
Panel axes_panel(const Coordinates& figure) {
  Panel panel;
  panel.y_label = "best of the problem 1, reference " + fixed(kReferenceHeight, 1);
  panel.x_low = -0.3;
  panel.x_high = static_cast<double>(figure.axes.size()) - 0.7;
  panel.y_low = -0.1;
  panel.y_high = 1.12;
  for (const Axis& axis : figure.axes) {
    panel.x_names.push_back(axis.problem);
    panel.x_tops.push_back(score_text(axis.measure, axis.best) +
                           (axis.measure.is_accuracy ? " %" : ""));
  }
  return panel;
}

// Returns for each competitor the line through the heights of its means.
std::map<std::string, Line> lines_of(const Analysis& analysis,
                                     const std::vector<Axis>& axes,
                                     const std::vector<Coordinate>& places) {
  std::map<std::string, Line> lines;
  for (const Coordinate& place : places) {
    const Axis& axis = axes[place.axis];
    const double height = axis.height(place.performance.mean);
    if (std::isnan(height)) continue;
    Line& line = lines[place.competitor];
    line.name = place.competitor;
    line.look = look_of(analysis.competitors, place.competitor);
    line.x.push_back(static_cast<double>(place.axis));
    line.y.push_back(height);
    line.hint += (line.hint.empty() ? place.competitor + ": " : "; ") + axis.problem + " " +
                 spread_text(axis.measure, place.performance);
  }
  return lines;
}

Line bars_of(const Analysis& analysis, const Coordinates& figure) {
  Line bars{kBarOf, look_of(analysis.competitors, kBarOf), {}, {}, {}, {}, ""};
  bars.style = Line::Style::kBars;
  bars.hint = std::string(kBarOf) + ", tuned: one standard deviation to both sides";
  for (const Coordinate& place : figure.tuned) {
    if (place.competitor != kBarOf) continue;
    const Axis& axis = figure.axes[place.axis];
    const Spread& spread = place.performance;
    const double below = axis.height(spread.mean - spread.deviation);
    const double above = axis.height(spread.mean + spread.deviation);
    if (std::isnan(below) || std::isnan(above)) continue;
    bars.x.push_back(static_cast<double>(place.axis));
    bars.y.push_back(axis.height(spread.mean));
    bars.low.push_back(std::min(below, above));
    bars.high.push_back(std::max(below, above));
  }
  return bars;
}

// Draws the seeds of one choice as thin lines over the axes, and their mean.
void add_retuned(const std::vector<const Retuning*>& rows,
                 const std::vector<Axis>& axes,
                 const std::string& study,
                 int colour,
                 Panel& panel) {
  std::map<size_t, Line> seeds;
  Line mean{study, {colour, 0, colour != 0}, {}, {}, {}, {}, study + ": mean over seeds"};
  for (size_t k = 0; k < axes.size(); ++k) {
    for (const Retuning* row : rows) {
      if (row->problem != axes[k].problem) continue;
      for (const RetunedChoice& found : row->found) {
        if (found.study != study) continue;
        for (size_t seed = 0; seed < found.seeds.size(); ++seed) {
          Line& line = seeds[seed];
          line.look = {colour, 0, colour != 0};
          line.style = Line::Style::kThin;
          line.hint = study + ", one seed";
          line.x.push_back(static_cast<double>(k));
          line.y.push_back(axes[k].height(found.seeds[seed]));
        }
        mean.x.push_back(static_cast<double>(k));
        mean.y.push_back(axes[k].height(found.performance.mean));
      }
    }
  }
  for (auto& [seed, line] : seeds) panel.lines.push_back(std::move(line));
  panel.lines.push_back(std::move(mean));
}

}  // namespace

Figure coordinates_figure(const Analysis& analysis, const Coordinates& figure) {
  Figure shown;
  shown.id = "coordinates_" + figure.schedule + "_" + figure.budget;
  shown.title = "All optimizers on all problems: " + setting_name(figure.schedule, figure.budget);
  shown.caption =
      "An axis for each problem. Its upper end is the best mean of everything that was run on the "
      "problem; adam with default hyperparameters stands at " +
      fixed(kReferenceHeight, 1) +
      " (the worst shown where it is not there, or is the best), and what is far below leaves the "
      "picture. Lines join the means of an optimizer, bars are one deviation of tuned adam; marks "
      "are adam (triangle) and adabound (square) with default hyperparameters. Choose names to "
      "bring them to the front.";
  shown.is_interactive = true;
  Panel panel = axes_panel(figure);
  const std::map<std::string, Line> lines = lines_of(analysis, figure.axes, figure.tuned);
  for (const std::string& competitor : analysis.competitors) {
    const auto at = lines.find(competitor);
    if (at == lines.end()) continue;
    shown.legend.push_back(competitor);
    panel.lines.push_back(at->second);
    panel.lines.back().pick = static_cast<int>(shown.legend.size()) - 1;
  }
  Line bars = bars_of(analysis, figure);
  const auto bar_owner = std::find(shown.legend.begin(), shown.legend.end(), kBarOf);
  if (bar_owner != shown.legend.end()) {
    bars.pick = static_cast<int>(bar_owner - shown.legend.begin());
  }
  if (!bars.x.empty()) panel.lines.push_back(std::move(bars));
  for (auto& [name, line] : lines_of(analysis, figure.axes, figure.untuned)) {
    Line marks = line;
    marks.style = Line::Style::kMarks;
    marks.look.marker = name == "adam" ? 3 : 2;
    marks.hint = "with default hyperparameters, " + marks.hint;
    panel.lines.push_back(std::move(marks));
  }
  shown.panels = {std::move(panel)};
  return shown;
}

Figure seeds_figure(const Analysis& analysis) {
  Figure figure;
  figure.id = "seeds";
  figure.title = "All seeds at every learning rate";
  figure.caption =
      "Every mark is a run: orange the seed that tuning looks at, in the optimizer's colour the "
      "others; the line is their mean, the band one standard deviation to both sides. Rates at "
      "which some seeds fail and others do well are unsafe, however good the one for tuning is.";
  // Panels are kept by problem, competitor, schedule and budget; their points by learning rate.
  std::map<std::tuple<std::string, std::string, std::string, std::string>,
           std::map<double, std::vector<const SeedPoint*>>>
      panels;
  for (const SeedPoint& point : analysis.seed_points) {
    panels[{point.problem, point.competitor, point.schedule, point.budget}][point.learning_rate]
        .push_back(&point);
  }
  for (const auto& [what, rates] : panels) {
    const auto& [problem, competitor, schedule, budget] = what;
    const Measure& measure = rates.begin()->second.front()->measure;
    const double scale = measure.is_accuracy ? 100 : 1;
    Panel panel;
    panel.title = competitor + " on " + problem + (schedule == "constant" ? "" : ", " + schedule) +
                  ": " + measure.name() + (measure.is_accuracy ? " (%)" : "");
    panel.x_label = "learning rate";
    panel.is_log_x = true;
    const Look look = look_of(analysis.competitors, competitor);
    Line mean{competitor, {look.colour, 0, false}, {}, {}, {}, {}, competitor + ": mean"};
    Line tuning{"", {Look::kAccent, 1, false}, {}, {}, {}, {}, "the seed of tuning"};
    Line others{"", {look.colour, 1, false}, {}, {}, {}, {}, "other seeds"};
    tuning.style = others.style = Line::Style::kMarks;
    for (const auto& [rate, points] : rates) {
      std::vector<double> scores;
      for (const SeedPoint* point : points) {
        scores.push_back(scale * point->score);
        Line& line = point->is_tuning_seed ? tuning : others;
        line.x.push_back(rate);
        line.y.push_back(scale * point->score);
      }
      const Spread spread = spread_of(scores);
      mean.x.push_back(rate);
      mean.y.push_back(spread.mean);
      mean.low.push_back(spread.mean - spread.deviation);
      mean.high.push_back(spread.mean + spread.deviation);
    }
    panel.x_low = rates.begin()->first / 1.2;
    panel.x_high = rates.rbegin()->first * 1.2;
    panel.lines = {std::move(mean), std::move(others), std::move(tuning)};
    fit_heights(panel);
    figure.panels.push_back(std::move(panel));
  }
  return figure;
}

ShownTable retuning_table(const Analysis& analysis) {
  ShownTable table;
  table.id = "retuning";
  table.title = "The same tuning, done again";
  table.caption =
      "What each study chose and reached, with its seeds. The shift is the difference of the best "
      "and the worst mean; where it is larger than the deviation over seeds, a single tuning says "
      "less than its seeds suggest.";
  table.columns = {"problem", "optimizer", "schedule", "budget"};
  std::vector<std::string> studies;
  for (const Retuning& row : analysis.retunings) {
    for (const RetunedChoice& found : row.found) {
      if (std::count(studies.begin(), studies.end(), found.study) == 0) {
        studies.push_back(found.study);
      }
    }
  }
  table.columns.insert(table.columns.end(), studies.begin(), studies.end());
  table.columns.insert(table.columns.end(), {"shift", "largest deviation"});
  table.word_columns = {0, 1, 2, 3};
  for (const Retuning& row : analysis.retunings) {
    std::vector<TableCell> cells = {{row.problem}, {row.competitor}, {row.schedule}, {row.budget}};
    for (const std::string& study : studies) {
      const auto is_of_study = [&](const RetunedChoice& found) { return found.study == study; };
      const auto at = std::find_if(row.found.begin(), row.found.end(), is_of_study);
      if (at == row.found.end()) {
        cells.push_back({"-"});
        continue;
      }
      std::string hint;
      for (const auto& [name, value] : at->hyperparameters) {
        hint += (hint.empty() ? "" : ", ") + name + " " + significant(value, 3);
      }
      cells.push_back({spread_text(row.measure, at->performance), NAN, hint});
    }
    cells.push_back({score_text(row.measure, row.shift)});
    cells.push_back({score_text(row.measure, row.largest_deviation)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<Figure> retuning_figures(const Analysis& analysis) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<const Retuning*>> tuned;
  for (const Retuning& row : analysis.retunings) {
    tuned[{row.competitor, row.schedule, row.budget}].push_back(&row);
  }
  std::vector<Figure> figures;
  for (const auto& [what, rows] : tuned) {
    const auto& [competitor, schedule, budget] = what;
    const auto axes = std::find_if(
        analysis.coordinates.begin(), analysis.coordinates.end(), [&](const Coordinates& found) {
          return found.schedule == std::get<1>(what) && found.budget == std::get<2>(what);
        });
    if (axes == analysis.coordinates.end()) continue;
    Figure figure;
    figure.id = "retuning_" + competitor + "_" + schedule + "_" + budget;
    figure.title = competitor + " tuned again: " + setting_name(schedule, budget);
    figure.caption =
        "Every thin line is a seed of " + competitor +
        ", the thick ones are means: of the first study solid, of the others dashed; grey are the "
        "means of all other optimizers. Axes as in the figure of all optimizers.";
    figure.is_folded = true;
    Panel panel = axes_panel(*axes);
    for (auto& [name, line] : lines_of(analysis, axes->axes, axes->tuned)) {
      if (name == competitor) continue;
      panel.lines.push_back(line);
      panel.lines.back().look = {Look::kMuted, 0, false};
    }
    std::vector<std::string> studies;
    for (const Retuning* row : rows) {
      for (const RetunedChoice& found : row->found) {
        if (std::count(studies.begin(), studies.end(), found.study) == 0) {
          studies.push_back(found.study);
        }
      }
    }
    for (size_t k = 0; k < studies.size(); ++k) {
      add_retuned(rows, axes->axes, studies[k], static_cast<int>(k % colours().size()), panel);
    }
    figure.panels = {std::move(panel)};
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace flightdeck::study
