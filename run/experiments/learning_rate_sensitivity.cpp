// SPDX-License-Identifier: MIT
// Performance over the learning rate of SGD, Momentum and Adam on the noisy quadratic, learning
// curves of the best, and the published table's numbers beside ours.
#include <algorithm>
#include <cmath>

#include "base/shown_number.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

struct TunedRow {
  const char* optimizer;
  double published_loss, published_rate;
};
// These are the rows of table 5.2 for the first problem.
constexpr TunedRow kTuned[] = {
    {"sgd", 87.40, 1.58e-2}, {"momentum", 87.05, 2.51e-3}, {"adam", 87.11, 3.98e-2}};

double final_loss(const std::string& optimizer,
                  double rate,
                  uint64_t seed,
                  int64_t epochs,
                  std::vector<double>* curve,
                  ExperimentResult& result) {
  TrainingOptions chosen;
  chosen.problem = "quadratic_deep";
  chosen.optimizer = optimizer;
  chosen.hyperparameters["learning_rate"] = rate;
  if (optimizer == "momentum") chosen.hyperparameters["momentum"] = 0.99;
  chosen.seed = seed;
  chosen.epochs = epochs;
  Training training(chosen);
  name_data(training, result);
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (int64_t step = 0; step < training.steps_per_epoch(); ++step) training.step();
    if (curve != nullptr) curve->push_back(training.evaluate(suite::Part::kTest).loss);
  }
  return training.evaluate(suite::Part::kTest).loss;
}

// What is found on the grid of learning rates of one optimizer.
struct Grid {
  std::vector<double> rates, losses;
  size_t best = 0;

  // Returns the best loss over each one, 0 where training diverged.
  std::vector<double> relative() const {
    std::vector<double> parts;
    for (const double loss : losses) {
      parts.push_back(std::isfinite(loss) ? losses[best] / loss : 0);
    }
    return parts;
  }
};

Grid search(const ExperimentOptions& options,
            const std::string& optimizer,
            int64_t epochs,
            Table& table,
            ExperimentResult& result) {
  const int per_decade = options.quick ? 1 : 3;
  Grid grid;
  for (int k = -5 * per_decade; k <= per_decade; ++k) {
    grid.rates.push_back(std::pow(10.0, static_cast<double>(k) / per_decade));
    options.on_progress("learning_rate_sensitivity: " + optimizer + ", " +
                        short_number(grid.rates.back()));
    grid.losses.push_back(
        final_loss(optimizer, grid.rates.back(), options.seed, epochs, nullptr, result));
    table.add({optimizer, grid.rates.back(), grid.losses.back()});
    const double loss = grid.losses.back();
    if (std::isfinite(loss) && loss < grid.losses[grid.best]) grid.best = grid.losses.size() - 1;
  }
  return grid;
}

ExperimentResult run_learning_rate_sensitivity(const ExperimentOptions& options) {
  const int64_t epochs = options.quick ? 10 : 100, seeds = options.quick ? 1 : 3;
  ExperimentResult result({"optimizer",
                           "best_rate",
                           "test_loss",
                           "published",
                           "published_rate",
                           "rates_within_10_percent"});
  Table table({"optimizer", "learning_rate", "test_loss"});
  study::Panel sensitivity = panel_over("learning rate", "best loss over the loss at this rate");
  study::Panel curves = panel_over("epoch", "test loss with the best rate", true);
  sensitivity.is_log_x = true;
  double worst = 0;
  size_t place = 0;
  for (const TunedRow& row : kTuned) {
    const Grid grid = search(options, row.optimizer, epochs, table, result);
    const double rate = grid.rates[grid.best];
    const std::vector<double> relative = grid.relative();
    sensitivity.lines.push_back(study::line_of(row.optimizer, place, grid.rates, relative));
    std::vector<double> finals, at, curve;
    for (int64_t k = 0; k < seeds; ++k) {
      curve.clear();
      const uint64_t seed = options.seed + static_cast<uint64_t>(k);
      finals.push_back(final_loss(row.optimizer, rate, seed, epochs, &curve, result));
    }
    for (size_t k = 0; k < curve.size(); ++k) at.push_back(static_cast<double>(k + 1));
    curves.lines.push_back(study::line_of(row.optimizer, place++, at, curve));
    const double loss = mean(finals);
    worst = std::max(worst, std::abs(loss / row.published_loss - 1));
    const int64_t good =
        std::count_if(relative.begin(), relative.end(), [](double part) { return part > 0.9; });
    result.table.add({row.optimizer, rate, loss, row.published_loss, row.published_rate, good});
    result.compared.push_back({std::string("test loss of ") + row.optimizer + ", mean of " +
                                   std::to_string(seeds) + " seeds",
                               loss,
                               short_number(row.published_loss) + " (table 5.2, ten seeds)"});
  }
  result.figures.emplace("grid", std::move(table));
  result.pictures.emplace(
      "figure", figure_of("SGD, Momentum and Adam on quadratic_deep", {curves, sensitivity}));
  result.holds = worst < 0.02;
  result.finding = "with the best learning rate of the grid the test losses are within " +
                   percent(worst) + " of the published ones after " + std::to_string(epochs) +
                   " epochs (published: 100).";
  return result;
}

}  // namespace

Experiment learning_rate_sensitivity() {
  return {"learning_rate_sensitivity",
          "Performance over the learning rate of SGD, Momentum and Adam",
          "5.4",
          &run_learning_rate_sensitivity};
}

}  // namespace flightdeck::run::experiments
