// SPDX-License-Identifier: MIT
// Newton steps with exact curvature products against SGD and Adam on 3c3d with sigmoids.
#include <algorithm>
#include <cmath>

#include "base/shown_number.h"
#include "run/learning_curves.h"
#include "suite/nets/conv_3c3d.h"

namespace flightdeck::run::experiments {
namespace {

// Settings are those of appendix A.5.
std::vector<Competitor> sigmoid_competitors(const ExperimentOptions& options) {
  const auto newton = [&options](
                          const char* name, const char* optimizer, double rate, double damping) {
    return newton_competitor(
        name, optimizer, rate, damping, options.quick ? 10 : 200, options.quick ? 100 : 500);
  };
  return {{"SGD", "sgd", {{"learning_rate", 1.0}}, 100, true},
          {"Adam", "adam", {{"learning_rate", 1e-3}}, 100, true},
          newton("PCH-abs", "hbp_pch_abs", 0.1, 1e-3),
          newton("PCH-clip", "hbp_pch_clip", 0.1, 1e-2),
          newton("GGN", "hbp_ggn", 0.05, 1e-3)};
}

ExperimentResult run_hbp_sigmoids(const ExperimentOptions& options) {
  suite::Problem problem =
      on_images_here("cifar10_3c3d_sigmoid", options, [&options](int64_t classes) {
        return suite::nets::conv_3c3d(
            classes, suite::nets::Nonlinearity::kSigmoid, options.quick ? 16 : 1);
      });
  if (options.quick) problem.name = "small " + problem.name;
  ExperimentResult result(kCompetedColumns);
  Contest contest{
      "hbp_sigmoids", problem, options_for(problem, options), sigmoid_competitors(options)};
  contest.steps = options.quick ? 30 : 1000;
  contest.interval = options.quick ? 5 : 50;
  contest.seeds = options.quick ? 1 : 3;
  if (options.quick) {
    contest.training.data.limit = 500;
    result.data.push_back(
        "a net of a sixteenth of the widths, batches of 100, 10 iterations a solve, 500 samples");
  }
  take_sizes(contest, options);
  const std::vector<Competed> all = compete(contest, options, result);
  result.pictures.emplace(
      "figure",
      figure_of("3c3d with sigmoids: " + problem.name,
                {curves_panel(all, &LearningCurve::train_loss, "loss on part of the training data"),
                 curves_panel(all, &LearningCurve::test_loss, "loss on the test data")}));
  double first_order = INFINITY, newtons = INFINITY;
  for (const Competed& one : all) {
    double& best = one.competitor.is_baseline ? first_order : newtons;
    best = std::min(best, one.last(&LearningCurve::train_loss));
  }
  result.compared = {{"training loss, best Newton method over the better of SGD and Adam",
                      newtons / first_order,
                      "below 1 early in training (figure A.6, no number in the text)"}};
  result.holds = newtons < first_order;
  result.finding = "after " + std::to_string(contest.steps) +
                   " steps the best of the Newton methods has a training loss of " +
                   short_number(newtons) + ", the better of SGD and Adam " +
                   short_number(first_order) + ".";
  return result;
}

}  // namespace

Experiment hbp_sigmoids() {
  return {"hbp_sigmoids",
          "Newton steps by exact curvature products on 3c3d with sigmoids",
          "A.5 (003)",
          &run_hbp_sigmoids,
          {Size::kSteps, Size::kSeeds, Size::kSamples},
          "ten seeds; the number of steps is not printed"};
}

}  // namespace flightdeck::run::experiments
