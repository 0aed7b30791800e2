// SPDX-License-Identifier: MIT
// Final test accuracy against the median normalised step length over a grid of learning rates: good
// runs overshoot the valley floor.
#include <cmath>

#include "base/order_statistics.h"
#include "base/shown_number.h"
#include "base/words.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

// A good run is at most this much less accurate than the best.
constexpr double kGood = 0.02;

struct Point {
  double learning_rate, accuracy, alpha;
};

std::vector<double> learning_rates(const ExperimentOptions& options) {
  std::vector<double> rates;
  const int per_decade = options.quick ? 1 : 3;
  for (int k = -3 * per_decade; k <= 0; ++k) {
    rates.push_back(std::pow(10.0, static_cast<double>(k) / per_decade));
  }
  return rates;
}

Point train(TrainingOptions chosen, double learning_rate, ExperimentResult& result) {
  chosen.hyperparameters["learning_rate"] = learning_rate;
  Training training(chosen);
  name_data(training, result);
  const auto values = watched(training, {quantity("alpha")});
  return {learning_rate,
          training.evaluate(suite::Part::kTest).accuracy,
          median(series(*values, "alpha"))};
}

Point best_of(const std::vector<Point>& points) {
  Point best = points.front();
  for (const Point& point : points) {
    if (point.accuracy > best.accuracy) best = point;
  }
  return best;
}

// Returns the published four: the perceptron on both MNISTs and 3c3d on CIFAR-10 and SVHN. Those
// without files are left out, but for one. The perceptron needs more steps than a test has.
std::vector<std::vector<std::string>> subjects(const ExperimentOptions& options) {
  if (options.quick) return {{"mnist_logreg", "fmnist_logreg"}};
  std::vector<std::vector<std::string>> all = {{"mnist_logreg", "fmnist_logreg"}};
  for (const char* name : {"mnist_mlp", "fmnist_mlp", "cifar10_3c3d", "svhn_3c3d"}) {
    if (is_read_from_files(suite::find_problem(name).data_set, options)) all.push_back({name});
  }
  if (all.size() == 1) all.push_back({"mnist_mlp"});
  return all;
}

ExperimentResult run_alpha_accuracy(const ExperimentOptions& options) {
  ExperimentResult result({"problem", "best_learning_rate", "accuracy", "median_alpha"});
  Table all({"problem", "learning_rate", "accuracy", "median_alpha"});
  std::vector<std::string> overshooting, others;
  study::Panel panel;
  panel.title = "final test accuracy over the median alpha";
  panel.x_label = "median alpha";
  int64_t good = 0, good_overshooting = 0;
  for (const std::vector<std::string>& problems : subjects(options)) {
    TrainingOptions chosen = first_with_data(problems, options);
    if (options.quick) {
      chosen.steps = 60;
      chosen.batch_size = 64;
    } else {
      chosen.epochs = 2;
    }
    std::vector<Point> points;
    for (const double rate : learning_rates(options)) {
      options.on_progress("alpha_accuracy: " + chosen.problem + ", learning rate " +
                          short_number(rate));
      const Point point = train(chosen, rate, result);
      all.add({chosen.problem, point.learning_rate, point.accuracy, point.alpha});
      points.push_back(point);
    }
    const Point best = best_of(points);
    std::vector<double> alphas, accuracies;
    for (const Point& point : points) {
      alphas.push_back(point.alpha);
      accuracies.push_back(point.accuracy);
      if (point.accuracy < best.accuracy - kGood) continue;
      ++good;
      good_overshooting += point.alpha > 0;
    }
    const size_t place = result.table.size();
    panel.lines.push_back(study::dots_of(chosen.problem, place, alphas, accuracies));
    panel.lines.push_back(study::line_of(
        "best of " + chosen.problem, place, {best.alpha, best.alpha}, {0, best.accuracy}));
    result.table.add({chosen.problem, best.learning_rate, best.accuracy, best.alpha});
    (best.alpha > 0 ? overshooting : others)
        .push_back(chosen.problem + " (" + short_number(best.alpha) + ")");
  }
  result.figures.emplace("runs", std::move(all));
  study::fit_limits(panel);
  study::Figure figure;
  figure.title = "Good runs overshoot";
  figure.panels = {panel};
  result.pictures.emplace("figure", std::move(figure));
  for (const std::vector<Cell>& row : result.table.rows()) {
    result.compared.push_back(
        {"median alpha of the best run on " + std::get<std::string>(row[0].value()),
         std::get<double>(row[3].value()),
         "above 0 (figure 7.5)"});
  }
  result.compared.push_back(
      {"share of the good runs, within 2 points of the best, with a median "
       "alpha above 0",
       static_cast<double>(good_overshooting) / static_cast<double>(good),
       "all of them"});

  result.holds = others.empty() && good == good_overshooting;
  result.finding = "the run with the best test accuracy has a median alpha above 0 on " +
                   (overshooting.empty() ? "no problem" : joined(overshooting)) +
                   (others.empty() ? "" : " and not above 0 on " + joined(others)) + "; of " +
                   std::to_string(good) + " runs within 2 points of the best, " +
                   std::to_string(good_overshooting) + " have one above 0.";
  return result;
}

}  // namespace

Experiment alpha_accuracy() {
  return {"alpha_accuracy",
          "Final test accuracy against the median alpha over learning rates",
          "7.3.3",
          &run_alpha_accuracy};
}

}  // namespace flightdeck::run::experiments
