// SPDX-License-Identifier: MIT
// Gradient noise drives a two-parameter net along its valley of equal loss to where it is flat: the
// loss of SGD and gradient descent is the same, the largest eigenvalue of the Hessian is not.
#include <cmath>

#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

#include "base/shown_number.h"
#include "flightdeck/cockpit.h"
#include "run/watched_training.h"
#include "suite/random.h"

namespace flightdeck::run::experiments {
namespace {

constexpr int64_t kPoints = 100;
constexpr double kLearningRate = 0.1;

struct Points {
  Tensor x, y;  // [100, 1]
};

Points draw(uint64_t seed) {
  at::manual_seed(seed);
  const Tensor x = torch::randn({kPoints, 1}, torch::kDouble);
  return {x, 1.4 * x + torch::randn({kPoints, 1}, torch::kDouble)};
}

// Makes the net f(x) = w2 w1 x, at (w1, w2) = (0.1, 1.7).
torch::nn::Sequential scalar_net() {
  const auto layer = [](double weight) {
    torch::nn::Linear linear(torch::nn::LinearOptions(1, 1).bias(false));
    linear->to(torch::kDouble);
    torch::NoGradGuard no_grad;
    linear->weight.fill_(weight);
    return linear;
  };
  return torch::nn::Sequential({{"w1", layer(0.1)}, {"w2", layer(1.7)}});
}

struct Curve {
  std::vector<int64_t> steps;
  std::vector<double> losses, eigenvalues;  // of all points, whatever the batches were
  std::vector<double> w1, w2;
};

// Adds the largest eigenvalue and loss on all points, so that batches do not blur the comparison.
void add_point(Curve& curve,
               int64_t step,
               Cockpit& cockpit,
               const MemorySink& values,
               torch::nn::Sequential& net,
               const Points& points) {
  const Tensor losses = (net->forward(points.x) - points.y).square().squeeze(1);
  {
    const StepWatch watch = cockpit.watch(step, losses);
    losses.mean().backward();
  }
  curve.steps.push_back(step);
  curve.losses.push_back(values.number(step, "loss"));
  curve.eigenvalues.push_back(values.number(step, "hess_max_ev"));
  const auto weights = net->named_parameters();
  curve.w1.push_back(weights["w1.weight"].item<double>());
  curve.w2.push_back(weights["w2.weight"].item<double>());
}

Curve train(
    const Points& points, int64_t batch_size, int64_t steps, int64_t interval, uint64_t seed) {
  torch::nn::Sequential net = scalar_net();
  torch::optim::SGD optimizer(net->parameters(), kLearningRate);
  CockpitOptions options;
  options.strict = true;
  Cockpit cockpit(net->named_parameters(), {quantity("loss"), quantity("hess_max_ev")}, options);
  const auto values = std::make_shared<MemorySink>();
  cockpit.add_sink(values);
  suite::Generator generator = suite::generator_of(seed, /*purpose=*/0);
  Curve curve;
  for (int64_t step = 0; step <= steps; ++step) {
    if (step % interval == 0) add_point(curve, step, cockpit, *values, net, points);
    const Tensor batch = suite::permutation(generator, kPoints).slice(0, 0, batch_size);
    optimizer.zero_grad();
    const Tensor residuals =
        net->forward(points.x.index_select(0, batch)) - points.y.index_select(0, batch);
    residuals.square().mean().backward();
    optimizer.step();
  }
  return curve;
}

// Draws loss, largest eigenvalue and the path in the plane of the two weights, with the valley w1
// w2 = c that least squares gives.
study::Figure drawn(const Curve& gd, const Curve& sgd, const Points& points) {
  const std::vector<double> steps(gd.steps.begin(), gd.steps.end());
  study::Figure figure;
  figure.title = "SGD against gradient descent on f(x) = w2 w1 x";
  study::Panel loss, eigenvalue, plane;
  loss.title = "loss of all points";
  eigenvalue.title = "largest eigenvalue of the Hessian";
  loss.x_label = eigenvalue.x_label = "step";
  plane.title = "w2 over w1";
  plane.x_label = "w1";
  const double slope = ((points.x * points.y).sum() / points.x.square().sum()).item<double>();
  std::vector<double> valley_x, valley_y;
  for (double w1 = slope / 1.9; w1 <= 1.9; w1 += 0.02) {
    valley_x.push_back(w1);
    valley_y.push_back(slope / w1);
  }
  plane.lines.push_back(study::line_of("valley of least loss", 7, valley_x, valley_y));
  plane.lines.back().look.is_dashed = true;
  size_t place = 0;
  for (const auto& [name, curve] : {std::pair<const char*, const Curve&>{"gradient descent", gd},
                                    {"SGD, batches of 95", sgd}}) {
    loss.lines.push_back(study::line_of(name, place, steps, curve.losses));
    eigenvalue.lines.push_back(study::line_of(name, place, steps, curve.eigenvalues));
    plane.lines.push_back(study::line_of(name, place, curve.w1, curve.w2));
    ++place;
  }
  figure.panels = {loss, eigenvalue, plane};
  for (study::Panel& panel : figure.panels) study::fit_limits(panel);
  return figure;
}

ExperimentResult run_implicit_regularisation(const ExperimentOptions& options) {
  const int64_t steps = options.quick ? 4000 : 50000;
  const int64_t interval = steps / 100;
  const Points points = draw(options.seed);
  options.on_progress("implicit_regularisation: gradient descent");
  const Curve gd = train(points, kPoints, steps, interval, options.seed);
  options.on_progress("implicit_regularisation: stochastic gradient descent");
  const Curve sgd = train(points, 95, steps, interval, options.seed);

  ExperimentResult result({"step", "gd_loss", "sgd_loss", "gd_max_ev", "sgd_max_ev"});
  Table curves({"step", "gd_loss", "sgd_loss", "gd_max_ev", "sgd_max_ev"});
  Table weights({"step", "gd_w1", "gd_w2", "sgd_w1", "sgd_w2"});
  for (size_t k = 0; k < gd.steps.size(); ++k) {
    const std::vector<Cell> row = {
        gd.steps[k], gd.losses[k], sgd.losses[k], gd.eigenvalues[k], sgd.eigenvalues[k]};
    curves.add(row);
    weights.add({gd.steps[k], gd.w1[k], gd.w2[k], sgd.w1[k], sgd.w2[k]});
    if (k % 20 == 0) result.table.add(row);
  }
  result.figures.emplace("weights", std::move(weights));
  result.pictures.emplace("figure", drawn(gd, sgd, points));
  result.figures.emplace("curves", std::move(curves));
  result.data = {"100 points of y = 1.4 x + noise, drawn with the seed"};

  const double flatter = 1 - sgd.eigenvalues.back() / gd.eigenvalues.back();
  const double loss_apart = std::abs(sgd.losses.back() / gd.losses.back() - 1);
  result.compared = {{"largest eigenvalue of SGD as a share of gradient descent's",
                      sgd.eigenvalues.back() / gd.eigenvalues.back(),
                      "below 1 (figure C.4, no number in the text)"},
                     {"relative difference of the losses", loss_apart, "almost identical"}};
  result.holds = flatter > 0.02 && loss_apart < 0.01;
  result.finding = "after " + std::to_string(steps) +
                   " steps the largest eigenvalue of the Hessian is " +
                   short_number(sgd.eigenvalues.back()) + " with batches of 95 and " +
                   short_number(gd.eigenvalues.back()) + " with all 100 points (" +
                   percent(std::abs(flatter)) + (flatter > 0 ? " lower" : " higher") +
                   "), while the losses differ by " + percent(loss_apart) + ".";
  return result;
}

}  // namespace

Experiment implicit_regularisation() {
  return {"implicit_regularisation",
          "Largest Hessian eigenvalue under SGD against gradient descent at equal loss",
          "C.4.2",
          &run_implicit_regularisation};
}

}  // namespace flightdeck::run::experiments
