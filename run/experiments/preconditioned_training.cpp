// SPDX-License-Identifier: MIT
// Gradients preconditioned by curvature against tuned Momentum and Adam, with the published
// hyperparameters.
#include <algorithm>

#include "base/order_statistics.h"
#include "base/shown_number.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

struct Setting {
  const char* optimizer;
  suite::Hyperparameters values;
};

// Table B.2, logistic regression on MNIST.
std::vector<Setting> published_settings() {
  return {{"momentum", {{"learning_rate", 2.07e-2}, {"momentum", 0.9}}},
          {"adam", {{"learning_rate", 2.98e-4}}},
          {"diag_ggn", {{"learning_rate", 1e-3}, {"damping", 1e-3}}},
          {"diag_ggn_mc", {{"learning_rate", 1e-3}, {"damping", 1e-3}}},
          {"kfac", {{"learning_rate", 1e-2}, {"damping", 1e-2}}},
          {"kflr", {{"learning_rate", 1e-2}, {"damping", 1e-2}}},
          {"kfra", {{"learning_rate", 1e-2}, {"damping", 1e-2}}}};
}

ExperimentResult run_preconditioned_training(const ExperimentOptions& options) {
  const int64_t steps = options.quick ? 60 : 800, interval = options.quick ? 20 : 80;
  const int64_t seeds = options.quick ? 1 : 3;
  ExperimentResult result({"optimizer", "train_loss", "test_accuracy"});
  Table curves({"optimizer", "seed", "step", "train_loss"});
  study::Panel panel = panel_over("step", "loss on part of the training data", true);
  std::map<std::string, double> final_losses;
  size_t place = 0;
  for (const Setting& setting : published_settings()) {
    std::vector<double> at, finals, accuracies;
    std::vector<std::vector<double>> runs;
    for (int64_t seed = 0; seed < seeds; ++seed) {
      options.on_progress(std::string("preconditioned_training: ") + setting.optimizer + ", seed " +
                          std::to_string(options.seed + static_cast<uint64_t>(seed)));
      TrainingOptions chosen = first_with_data({"mnist_logreg", "fmnist_logreg"}, options);
      chosen.optimizer = setting.optimizer;
      chosen.hyperparameters = setting.values;
      chosen.seed += static_cast<uint64_t>(seed);
      chosen.steps = steps;
      Training training(chosen);
      name_data(training, result);
      std::vector<double> losses;
      at.clear();
      for (int64_t step = 0; step <= steps; ++step) {
        if (step % interval == 0) {
          losses.push_back(training.evaluate(suite::Part::kTrainEval).loss);
          at.push_back(static_cast<double>(step));
          curves.add({setting.optimizer, seed, step, losses.back()});
        }
        if (step < steps) training.step();
      }
      finals.push_back(losses.back());
      accuracies.push_back(training.evaluate(suite::Part::kTest).accuracy);
      runs.push_back(std::move(losses));
    }
    std::vector<double> middle;
    study::Line line;
    for (size_t k = 0; k < at.size(); ++k) {
      std::vector<double> heights;
      for (const std::vector<double>& run : runs) heights.push_back(run[k]);
      middle.push_back(median(heights));
      line.low.push_back(*std::min_element(heights.begin(), heights.end()));
      line.high.push_back(*std::max_element(heights.begin(), heights.end()));
    }
    std::vector<double> low = std::move(line.low), high = std::move(line.high);
    line = study::line_of(setting.optimizer, place, at, middle);
    if (line.x.size() == low.size()) {
      line.low = std::move(low);
      line.high = std::move(high);
    }
    line.look.is_dashed = place++ < 2;
    panel.lines.push_back(std::move(line));
    final_losses[setting.optimizer] = median(finals);
    result.table.add({setting.optimizer, median(finals), median(accuracies)});
  }
  result.figures.emplace("curves", std::move(curves));
  result.pictures.emplace("figure", figure_of("Logistic regression: median over seeds", {panel}));
  const double baseline = std::min(final_losses["momentum"], final_losses["adam"]);
  const double best = std::min({final_losses["kfac"], final_losses["kflr"], final_losses["kfra"]});
  result.compared = {
      {"training loss of the best Kronecker-factored method over the better baseline",
       best / baseline,
       "about 1 or below: they compete in progress per step (figure B.3a, 50 epochs)"}};
  result.holds = best <= 1.05 * baseline;
  result.finding =
      "after " + std::to_string(steps) +
      " steps with the published hyperparameters the best Kronecker-factored method has a "
      "training loss of " +
      short_number(best) + ", the better of Momentum and Adam " + short_number(baseline) + ".";
  return result;
}

}  // namespace

Experiment preconditioned_training() {
  return {"preconditioned_training",
          "Curvature-preconditioned gradients against Momentum and Adam",
          "5.4 (003), B.3",
          &run_preconditioned_training};
}

}  // namespace flightdeck::run::experiments
