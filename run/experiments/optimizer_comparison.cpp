// SPDX-License-Identifier: MIT
// All first-order optimizers, untuned and with the learning rate tuned, on a few problems: what
// switching gains, what tuning gains, and whether one optimizer wins everywhere. A small stand-in
// for the comparison, whose runs need a cluster: `flightdeck tune` has its protocol.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/order_statistics.h"
#include "base/shown_number.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

struct Scores {
  std::vector<double> untuned, tuned;  // test losses, by optimizer
};

double test_loss(TrainingOptions chosen,
                 const suite::OptimizerEntry& optimizer,
                 double factor,
                 ExperimentResult& result) {
  chosen.optimizer = optimizer.name;
  chosen.hyperparameters["learning_rate"] = factor * optimizer.hyperparameters.front().value;
  Training training(chosen);
  name_data(training, result);
  while (!training.is_done()) training.step();
  const double loss = training.evaluate(suite::Part::kTest).loss;
  return std::isfinite(loss) ? loss : std::numeric_limits<double>::infinity();
}

size_t best_place(const std::vector<double>& losses) {
  return static_cast<size_t>(std::min_element(losses.begin(), losses.end()) - losses.begin());
}

// Shows the relative improvement in percent from an untuned row to a tuned column.
study::Heatmap improvement(const std::string& problem,
                           const std::vector<std::string>& names,
                           const Scores& scores) {
  study::Heatmap map;
  map.title = "Test loss on " + problem + ": percent gained from untuned (row) to tuned (column)";
  map.rows = map.columns = names;
  map.cap = 30;
  for (const double from : scores.untuned) {
    map.values.emplace_back();
    for (const double to : scores.tuned) {
      map.values.back().push_back(std::isfinite(from) ? 100 * (from - to) / from : NAN);
    }
  }
  return map;
}

// Shows how close every optimizer comes to the best on each problem; `all` are the scores by
// problem.
study::Panel tuned_panel(const std::vector<std::string>& problems,
                         const std::vector<std::string>& names,
                         const std::vector<Scores>& all) {
  study::Panel panel = panel_over("", "best tuned loss over the tuned loss");
  panel.x_names = problems;
  for (size_t k = 0; k < names.size(); ++k) {
    std::vector<double> places, heights;
    for (size_t p = 0; p < problems.size(); ++p) {
      places.push_back(static_cast<double>(p));
      heights.push_back(all[p].tuned[best_place(all[p].tuned)] / all[p].tuned[k]);
    }
    panel.lines.push_back(study::line_of(names[k], k, places, heights));
    panel.lines.back().look.marker = static_cast<int>(k / study::colours().size());
    if (names[k] == "adam") panel.lines.back().look.colour = study::Look::kAccent;
  }
  return panel;
}

// Trains with every optimizer on one problem, untuned and with other learning rates.
Scores train_all(const std::string& problem,
                 const ExperimentOptions& options,
                 Table& runs,
                 ExperimentResult& result) {
  const std::vector<double> factors =
      options.quick ? std::vector<double>{10} : std::vector<double>{0.01, 0.1, 0.3, 3, 10, 100};
  TrainingOptions chosen = first_with_data({problem}, options);
  chosen.steps = options.quick ? 40 : 400;
  Scores scores;
  for (const suite::OptimizerEntry& entry : suite::first_order_optimizers()) {
    options.on_progress("optimizer_comparison: " + problem + ", " + entry.name);
    scores.untuned.push_back(test_loss(chosen, entry, 1, result));
    runs.add({problem, entry.name, 1.0, scores.untuned.back()});
    double best = scores.untuned.back();
    for (const double factor : factors) {
      const double loss = test_loss(chosen, entry, factor, result);
      runs.add({problem, entry.name, factor, loss});
      best = std::min(best, loss);
    }
    scores.tuned.push_back(best);
  }
  return scores;
}

// Holds what the problems say together.
struct Gains {
  std::vector<double> ratios;  // best untuned loss over tuned Adam's, by problem
  std::vector<double> by_tuning;
  std::set<std::string> winners;
};

void add_gains(const std::string& problem,
               const std::vector<std::string>& names,
               const Scores& scores,
               Gains& gains,
               ExperimentResult& result) {
  const auto adam =
      static_cast<size_t>(std::find(names.begin(), names.end(), "adam") - names.begin());
  const size_t untuned = best_place(scores.untuned), tuned = best_place(scores.tuned);
  gains.winners.insert(names[tuned]);
  gains.ratios.push_back(scores.untuned[untuned] / scores.tuned[adam]);
  for (size_t k = 0; k < names.size(); ++k) {
    if (!std::isfinite(scores.untuned[k])) continue;
    gains.by_tuning.push_back(1 - scores.tuned[k] / scores.untuned[k]);
  }
  result.table.add({problem,
                    names[untuned],
                    scores.untuned[untuned],
                    scores.tuned[adam],
                    names[tuned],
                    scores.tuned[tuned]});
}

ExperimentResult run_optimizer_comparison(const ExperimentOptions& options) {
  std::vector<std::string> problems = {"quadratic_deep", "mnist_logreg"};
  if (!options.quick) problems.insert(problems.end(), {"fmnist_logreg", "mnist_mlp", "fmnist_mlp"});
  std::vector<std::string> names;
  for (const suite::OptimizerEntry& entry : suite::first_order_optimizers()) {
    names.push_back(entry.name);
  }
  ExperimentResult result({"problem",
                           "best_untuned",
                           "best_untuned_loss",
                           "tuned_adam_loss",
                           "best_tuned",
                           "best_tuned_loss"});
  Table runs({"problem", "optimizer", "learning_rate_factor", "test_loss"});
  std::vector<Scores> all;
  Gains gains;
  for (const std::string& problem : problems) {
    all.push_back(train_all(problem, options, runs, result));
    add_gains(problem, names, all.back(), gains, result);
  }
  result.figures.emplace("runs", std::move(runs));
  result.pictures.emplace("improvement", improvement(problems[1], names, all[1]));
  result.pictures.emplace(
      "figure",
      figure_of("All optimizers over the problems, tuned", {tuned_panel(problems, names, all)}));
  const double worst = *std::max_element(gains.ratios.begin(), gains.ratios.end());
  const double gain = median(gains.by_tuning);
  result.compared = {{"best untuned loss over tuned Adam's, the worst problem",
                      worst,
                      "about 1: trying optimizers works as well as tuning one (chapter 6)"},
                     {"optimizers that win a problem",
                      static_cast<double>(gains.winners.size()),
                      "several: none dominates"},
                     {"median relative gain by tuning", gain, "above 0 (figure 6.3)"}};
  result.holds = worst < 1.1 && gains.winners.size() > 1 && gain > 0;
  result.finding = "the best untuned optimizer has at most " + short_number(worst) +
                   " times the loss of tuned Adam, " + std::to_string(gains.winners.size()) +
                   " optimizers win one of " + std::to_string(problems.size()) +
                   " problems, and tuning gains " + percent(gain) +
                   " of the loss at the median. One seed, learning rates on a grid.";
  return result;
}

}  // namespace

Experiment optimizer_comparison() {
  return {"optimizer_comparison",
          "All optimizers untuned and tuned: switching, tuning, winners",
          "6.3",
          &run_optimizer_comparison};
}

}  // namespace flightdeck::run::experiments
