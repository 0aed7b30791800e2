// SPDX-License-Identifier: MIT
// Figures: learning curves, sensitivity, profiles, gains, improvement matrices.
#include <algorithm>
#include <map>
#include <set>

#include "study/analysis/number_text.h"
#include "study/analysis/report_parts.h"

namespace flightdeck::study {
namespace {

Line curve_line(const Analysis& analysis, const Result& result, const Measure& measure) {
  const Trial& trial = analysis.trials[result.choice.trial];
  const std::string& competitor = result.choice.competitor;
  Line line{competitor, look_of(analysis.competitors, competitor), {}, {}, {}, {}, ""};
  const double scale = measure.is_accuracy ? 100 : 1;
  for (size_t k = 0; k < trial.evaluated.size(); ++k) {
    line.x.push_back(static_cast<double>(trial.evaluated[k]));
    if (analysis.options.has_median_curves) {
      line.y.push_back(scale * trial.quantile(measure, k, 0.5));
      line.low.push_back(scale * trial.quantile(measure, k, 0.25));
      line.high.push_back(scale * trial.quantile(measure, k, 0.75));
      continue;
    }
    const Spread spread = trial.spread(measure, k);
    line.y.push_back(scale * spread.mean);
    line.low.push_back(scale * (spread.mean - spread.deviation));
    line.high.push_back(scale * (spread.mean + spread.deviation));
  }
  if (trial.runs.size() < 2) line.low.clear(), line.high.clear();
  line.hint = competitor + ": " + spread_text(measure, trial.spread(measure, trial.reported())) +
              " at epoch " + std::to_string(trial.evaluated[trial.reported()]);
  return line;
}

Panel curve_panel(const Analysis& analysis, const std::string& problem, const Measure& measure) {
  Panel panel;
  panel.title = measure.name() + (measure.is_accuracy ? " (%)" : "");
  panel.x_label = "epoch";
  panel.x_high = 0;
  for (const Result* result : analysis.headline_of(problem)) {
    const Trial& trial = analysis.trials[result->choice.trial];
    if (!trial.has(measure)) continue;
    panel.lines.push_back(curve_line(analysis, *result, measure));
    panel.x_high = std::max(panel.x_high, static_cast<double>(trial.evaluated.back()));
  }
  const Target& target = analysis.targets.at(problem);
  if (target.measure.part == measure.part && target.measure.is_accuracy == measure.is_accuracy) {
    panel.level = target.value * (measure.is_accuracy ? 100 : 1);
  }
  fit_heights(panel);
  if (measure.is_accuracy) {
    panel.y_low = std::max(panel.y_low, 0.0);
    panel.y_high = std::min(panel.y_high, 100.0);
  }
  return panel;
}

std::vector<std::string> names_in(const Analysis& analysis, const std::vector<Panel>& panels) {
  std::set<std::string> used;
  for (const Panel& panel : panels) {
    for (const Line& line : panel.lines) used.insert(line.name);
  }
  std::vector<std::string> names;
  for (const std::string& competitor : analysis.competitors) {
    if (used.count(competitor) != 0) names.push_back(competitor);
  }
  return names;
}

// Returns, by competitor, the settings that competed for its headline result.
std::map<std::string, std::vector<TunedPoint>> headline_points(const Analysis& analysis,
                                                               const std::string& problem) {
  std::map<std::string, std::vector<TunedPoint>> points;
  for (const TunedPoint& point : analysis.points) {
    if (point.problem != problem) continue;
    const Result* result = analysis.headline_of(problem, point.competitor);
    if (result != nullptr && point.schedule == result->choice.schedule &&
        is_in_budget(point.sample, result->choice.budget)) {
      points[point.competitor].push_back(point);
    }
  }
  return points;
}

Panel gain_panel(const Analysis& analysis,
                 const std::string& schedule,
                 const std::vector<std::string>& efforts) {
  Panel panel;
  panel.title = schedule;
  panel.y_label = "gain in %";
  panel.x_names = efforts;
  panel.x_low = -0.2;
  panel.x_high = static_cast<double>(efforts.size()) - 0.8;
  panel.level = 0;
  std::map<std::pair<std::string, std::string>, Line> lines;
  for (const Gain& gain : analysis.gains) {
    const auto at = std::find(efforts.begin(), efforts.end(), gain.budget);
    if (gain.schedule != schedule || at == efforts.end() || std::isnan(gain.over_one_shot)) {
      continue;
    }
    Line& line = lines[{gain.problem, gain.competitor}];
    line.look.colour = Look::kMuted;
    line.hint = gain.competitor + " on " + gain.problem;
    line.x.push_back(static_cast<double>(at - efforts.begin()));
    line.y.push_back(100 * gain.over_one_shot);
  }
  for (auto& [what, line] : lines) panel.lines.push_back(std::move(line));
  Line middle{"median", {Look::kAccent, 0, false}, {}, {}, {}, {}, "median and quartiles"};
  for (const GainSummary& row : summarise(analysis.gains, &Gain::over_one_shot)) {
    const auto at = std::find(efforts.begin(), efforts.end(), row.budget);
    if (row.schedule != schedule || at == efforts.end()) continue;
    middle.x.push_back(static_cast<double>(at - efforts.begin()));
    middle.y.push_back(100 * row.middle);
    middle.low.push_back(100 * row.lower);
    middle.high.push_back(100 * row.upper);
  }
  panel.lines.push_back(std::move(middle));
  return panel;
}

// Gives all panels one scale that shows the middle eight tenths of all gains, and the quartiles.
void fit_gains(std::vector<Panel>& panels) {
  std::vector<double> values;
  for (const Panel& panel : panels) {
    for (const Line& line : panel.lines) values.insert(values.end(), line.y.begin(), line.y.end());
  }
  double low = std::min(0.0, percentile(values, 0.1));
  double high = std::max(0.0, percentile(values, 0.9));
  for (const Panel& panel : panels) {
    for (const double value : panel.lines.back().low) low = std::min(low, value);
    for (const double value : panel.lines.back().high) high = std::max(high, value);
  }
  const double room = std::max(0.05 * (high - low), 1e-3);
  for (Panel& panel : panels) panel.y_low = low - room, panel.y_high = high + room;
}

}  // namespace

void fit_heights(Panel& panel) {
  std::vector<double> values;
  for (const Line& line : panel.lines) {
    if (line.y.empty()) continue;
    values.push_back(percentile(line.y, 0.2));
    values.push_back(percentile(line.y, 0.8));
    values.push_back(line.y.back());
  }
  if (std::isfinite(panel.level)) values.push_back(panel.level);
  if (values.empty()) return;
  const double limit = 10 * std::fabs(median(values));
  double low = INFINITY, high = -INFINITY;
  for (const double value : values) {
    if (!std::isfinite(value) || (limit > 0 && std::fabs(value) > limit)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (!(low <= high)) low = 0, high = 1;
  const double room = high > low ? 0.08 * (high - low) : std::max(0.05 * std::fabs(high), 1e-6);
  panel.y_low = low - room;
  panel.y_high = high + room;
}

Figure curves_figure(const Analysis& analysis, const std::string& problem) {
  Figure figure;
  figure.id = "curves_" + problem;
  figure.title = problem;
  figure.caption =
      std::string(analysis.options.has_median_curves
                      ? "Median over seeds (line) and what lies between the quartiles (band)"
                      : "Mean over seeds (line) and one standard deviation to both sides (band)") +
      " of each optimizer's best setting; the grey level is the target.";
  for (const bool is_accuracy : {true, false}) {
    for (const MeasuredPart part :
         {MeasuredPart::kTest, MeasuredPart::kValid, MeasuredPart::kTrain}) {
      Panel panel = curve_panel(analysis, problem, {part, is_accuracy});
      if (!panel.lines.empty()) figure.panels.push_back(std::move(panel));
    }
  }
  figure.legend = names_in(analysis, figure.panels);
  return figure;
}

Figure sensitivity_figure(const Analysis& analysis) {
  Figure figure;
  figure.id = "sensitivity";
  figure.title = "Sensitivity to the learning rate";
  figure.caption =
      "Performance relative to the best of the problem (1) against the learning rate: a wide hill "
      "is easy to hit; of random samples the best in each third of a decade is drawn, all are in "
      "sensitivity.csv.";
  for (const std::string& problem : analysis.problems) {
    Panel panel;
    panel.title = problem;
    panel.x_label = "learning rate";
    panel.is_log_x = true;
    panel.y_high = 1.04;
    panel.x_low = INFINITY, panel.x_high = -INFINITY;
    for (const auto& [competitor, points] : headline_points(analysis, problem)) {
      Line line{competitor, look_of(analysis.competitors, competitor), {}, {}, {}, {}, competitor};
      for (const auto& [rate, relative] : upper_envelope(points)) {
        line.x.push_back(rate);
        line.y.push_back(relative);
        panel.x_low = std::min(panel.x_low, rate);
        panel.x_high = std::max(panel.x_high, rate);
      }
      if (line.x.size() > 1) panel.lines.push_back(std::move(line));
    }
    if (panel.lines.empty()) continue;
    panel.x_low /= 1.2, panel.x_high *= 1.2;
    figure.panels.push_back(std::move(panel));
  }
  figure.legend = names_in(analysis, figure.panels);
  return figure;
}

Figure profile_figure(const Analysis& analysis) {
  Figure figure;
  figure.id = "profile";
  figure.title = "Performance profiles";
  figure.caption =
      "Share of the problems that an optimizer solves within a factor of the fastest one's "
      "iterations: the higher and the earlier, the better.";
  Panel panel;
  panel.x_label = "factor of the fastest time to target";
  panel.y_label = "share of problems";
  panel.x_low = 1;
  panel.x_high = kLargestFactor;
  panel.y_high = 1.04;
  panel.is_stepped = true;
  for (const Profile& profile : analysis.profiles) {
    const std::string& name = profile.competitor;
    Line line{name, look_of(analysis.competitors, name), {}, {}, {}, {}, ""};
    line.hint = name + ": score " + fixed(profile.score, 3);
    std::set<double> steps = {1, kLargestFactor};
    for (const auto& [problem, factor] : profile.factors) {
      if (factor <= kLargestFactor) steps.insert(factor);
    }
    for (const double step : steps) {
      line.x.push_back(step);
      line.y.push_back(profile.share_within(step));
    }
    panel.lines.push_back(std::move(line));
  }
  figure.panels = {std::move(panel)};
  figure.legend = names_in(analysis, figure.panels);
  return figure;
}

Figure gain_figure(const Analysis& analysis) {
  Figure figure;
  figure.id = "gains";
  figure.title = "Gain over default hyperparameters, by budget and schedule";
  figure.caption =
      "Every grey line is an optimizer on a problem, compared with its one-shot result and the "
      "constant schedule; the orange line is the median, the band lies between the quartiles.";
  std::vector<std::string> efforts;
  for (const std::string& budget : budgets()) {
    const auto has_budget = [&](const Gain& gain) {
      return gain.budget == budget && !std::isnan(gain.over_one_shot);
    };
    if (std::any_of(analysis.gains.begin(), analysis.gains.end(), has_budget)) {
      efforts.push_back(budget);
    }
  }
  for (const std::string& schedule : analysis.schedules) {
    Panel panel = gain_panel(analysis, schedule, efforts);
    if (panel.lines.size() > 1) figure.panels.push_back(std::move(panel));
  }
  if (!figure.panels.empty()) fit_gains(figure.panels);
  return figure;
}

namespace {

Heatmap heatmap_of(const Analysis& analysis,
                   const std::string& problem,
                   const std::string& budget,
                   bool is_of_tuning_seed) {
  std::map<std::pair<std::string, std::string>, double> cells;
  std::set<std::string> untuned, tuned;
  const bool is_mean = problem.empty();
  const bool is_accuracy = !is_mean && analysis.targets.count(problem) != 0 &&
                           analysis.targets.at(problem).measure.is_accuracy;
  for (const Improvement& cell : analysis.improvements) {
    if (cell.problem != problem || cell.budget != budget) continue;
    const double scale = is_mean || is_accuracy ? 100 : 1;
    cells[{cell.untuned, cell.tuned}] = scale * (is_mean             ? cell.relative
                                                 : is_of_tuning_seed ? cell.absolute_on_tuning_seed
                                                                     : cell.absolute);
    untuned.insert(cell.untuned);
    tuned.insert(cell.tuned);
  }
  Heatmap map;
  map.id = is_mean ? "improvement" : "improvement_" + problem;
  const std::string unit = is_mean ? "relative, in %" : is_accuracy ? "percentage points" : "loss";
  map.title = (is_mean ? "Mean over problems" : problem) + " (" + unit + ")";
  map.caption =
      "What is gained by switching from the optimizer of the row with default hyperparameters to "
      "that of the column, tuned with the " +
      budget + " budget: orange is better, blue worse; an orange row has bad defaults.";
  map.is_folded = !is_mean;
  for (const std::string& name : analysis.competitors) {
    if (untuned.count(name) != 0) map.rows.push_back(name);
    if (tuned.count(name) != 0) map.columns.push_back(name);
  }
  std::vector<double> sizes;
  for (const std::string& row : map.rows) {
    map.values.emplace_back();
    for (const std::string& column : map.columns) {
      const auto at = cells.find({row, column});
      map.values.back().push_back(at == cells.end() ? NAN : at->second);
      if (at != cells.end()) sizes.push_back(std::fabs(at->second));
    }
  }
  // The limit for accuracies is the published one; losses have scales of their own.
  map.cap = is_accuracy ? 3 : is_mean ? 10 : std::max(percentile(sizes, 0.8), 1e-12);
  map.digits = map.cap < 0.1 ? 3 : map.cap < 1 ? 2 : 1;
  return map;
}

}  // namespace

Heatmap improvement_heatmap(const Analysis& analysis,
                            const std::string& problem,
                            const std::string& budget) {
  return heatmap_of(analysis, problem, budget, /*is_of_tuning_seed=*/false);
}

Heatmap improvement_on_tuning_seed(const Analysis& analysis,
                                   const std::string& problem,
                                   const std::string& budget) {
  Heatmap map = heatmap_of(analysis, problem, budget, /*is_of_tuning_seed=*/true);
  map.id = "improvement_" + budget + "_tuning_seed_" + problem;
  map.title += ", " + budget + " budget, seed of tuning alone";
  map.caption += " Only the seed that tuning looked at counts.";
  return map;
}

}  // namespace flightdeck::study
