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
// without files are left out, but for one. The perceptron needs more steps than a test has. The
// regression is of this program.
std::vector<std::vector<std::string>> subjects(const ExperimentOptions& options) {
  if (options.quick) return {{"mnist_logreg", "fmnist_logreg"}};
  std::vector<std::vector<std::string>> all;
  for (const char* name : {"mnist_mlp", "fmnist_mlp", "cifar10_3c3d", "svhn_3c3d"}) {
    if (is_read_from_files(suite::find_problem(name).data_set, options)) all.push_back({name});
  }
  if (all.empty()) all.push_back({"mnist_mlp"});
  if (!options.published) {
    all.insert(all.begin(), std::vector<std::string>{"mnist_logreg", "fmnist_logreg"});
  }
  return all;
}

// Trains one problem with every learning rate.
std::vector<Point> train_all(const TrainingOptions& chosen,
                             const ExperimentOptions& options,
                             Table& runs,
                             ExperimentResult& result) {
  std::vector<Point> points;
  for (const double rate : learning_rates(options)) {
    options.on_progress("alpha_accuracy: " + chosen.problem + ", learning rate " +
                        short_number(rate));
    points.push_back(train(chosen, rate, result));
    runs.add({chosen.problem, rate, points.back().accuracy, points.back().alpha});
  }
  return points;
}

// Counts runs that are nearly as accurate as the best of their problem, and those of them that
// overshoot.
struct GoodRuns {
  int64_t all = 0, overshooting = 0;
};

void add_lines(const std::string& problem,
               size_t place,
               const std::vector<Point>& points,
               study::Panel& panel) {
  const Point best = best_of(points);
  std::vector<double> alphas, accuracies;
  for (const Point& point : points) {
    alphas.push_back(point.alpha);
    accuracies.push_back(point.accuracy);
  }
  panel.lines.push_back(study::dots_of(problem, place, alphas, accuracies));
  panel.lines.push_back(
      study::line_of("best of " + problem, place, {best.alpha, best.alpha}, {0, best.accuracy}));
}

void judge(const GoodRuns& good, ExperimentResult& result) {
  std::vector<std::string> overshooting, others;
  for (const std::vector<Cell>& row : result.table.rows()) {
    const auto& problem = std::get<std::string>(row[0].value());
    const double alpha = std::get<double>(row[3].value());
    result.compared.push_back(
        {"median alpha of the best run on " + problem, alpha, "above 0 (figure 7.5)"});
    (alpha > 0 ? overshooting : others).push_back(problem + " (" + short_number(alpha) + ")");
  }
  result.compared.push_back(
      {"share of the good runs, within 2 points of the best, with a median alpha above 0",
       static_cast<double>(good.overshooting) / static_cast<double>(good.all),
       "all of them"});
  result.holds = others.empty() && good.all == good.overshooting;
  result.finding = "the run with the best test accuracy has a median alpha above 0 on " +
                   (overshooting.empty() ? "no problem" : joined(overshooting)) +
                   (others.empty() ? "" : " and not above 0 on " + joined(others)) + "; of " +
                   std::to_string(good.all) + " runs within 2 points of the best, " +
                   std::to_string(good.overshooting) + " have one above 0.";
}

ExperimentResult run_alpha_accuracy(const ExperimentOptions& options) {
  ExperimentResult result({"problem", "best_learning_rate", "accuracy", "median_alpha"});
  Table runs({"problem", "learning_rate", "accuracy", "median_alpha"});
  study::Panel panel;
  panel.title = "final test accuracy over the median alpha";
  panel.x_label = "median alpha";
  GoodRuns good;
  for (const std::vector<std::string>& problems : subjects(options)) {
    TrainingOptions chosen = first_with_data(problems, options);
    if (options.quick) {
      chosen.steps = 60;
      chosen.batch_size = 64;
    } else if (options.published) {
      chosen.data.augment = true;
    } else {
      chosen.epochs = 2;
    }
    if (options.steps > 0) chosen.steps = options.steps;
    const std::vector<Point> points = train_all(chosen, options, runs, result);
    const Point best = best_of(points);
    for (const Point& point : points) {
      if (point.accuracy < best.accuracy - kGood) continue;
      ++good.all;
      good.overshooting += point.alpha > 0;
    }
    add_lines(chosen.problem, result.table.size(), points, panel);
    result.table.add({chosen.problem, best.learning_rate, best.accuracy, best.alpha});
  }
  result.figures.emplace("runs", std::move(runs));
  study::fit_limits(panel);
  study::Figure figure;
  figure.title = "Good runs overshoot";
  figure.panels = {panel};
  result.pictures.emplace("figure", std::move(figure));
  judge(good, result);
  return result;
}

}  // namespace

Experiment alpha_accuracy() {
  return {"alpha_accuracy",
          "Final test accuracy against the median alpha over learning rates",
          "7.3.3",
          &run_alpha_accuracy,
          {Size::kSteps, Size::kSamples},
          "all 100 epochs of each published problem"};
}

}  // namespace flightdeck::run::experiments
