// SPDX-License-Identifier: MIT
// Newton steps with exact curvature products against SGD, Adam and KFAC on a convolutional net with
// sigmoids, over steps and over time.
#include <algorithm>
#include <cmath>

#include "base/shown_number.h"
#include "run/learning_curves.h"
#include "suite/nets/conv_4c3d.h"

namespace flightdeck::run::experiments {
namespace {

// Settings are those of appendix A.5. The published KFAC is another program, of which only the rate
// is printed: the damping here is its default, and it clips steps, which this one does not.
std::vector<Competitor> matrix_free_competitors(const ExperimentOptions& options) {
  const auto newton = [&options](
                          const char* name, const char* optimizer, double rate, double damping) {
    return newton_competitor(
        name, optimizer, rate, damping, options.quick ? 10 : 200, options.quick ? 100 : 1000);
  };
  const auto batch = [&options](int64_t published) { return options.quick ? 100 : published; };
  return {{"SGD", "momentum", {{"learning_rate", 1e-3}, {"momentum", 0.9}}, batch(100), true},
          {"Adam", "adam", {{"learning_rate", 1e-3}}, batch(100), true},
          {"KFAC", "kfac", {{"learning_rate", 0.1}, {"damping", 1e-3}}, batch(500), true},
          newton("PCH-abs", "hbp_pch_abs", 0.2, 1e-3),
          newton("PCH-clip", "hbp_pch_clip", 0.1, 1e-4),
          newton("GGN, damping 1e-4", "hbp_ggn", 0.1, 1e-4),
          newton("GGN, damping 1e-3", "hbp_ggn", 0.1, 1e-3)};
}

ExperimentResult run_hbp_matrix_free(const ExperimentOptions& options) {
  suite::Problem problem = on_images_here("cifar10_4c3d", options, [&options](int64_t) {
    return suite::nets::conv_4c3d(options.quick ? 8 : 1);
  });
  if (options.quick) problem.name = "small " + problem.name;
  ExperimentResult result(kCompetedColumns);
  Contest contest{
      "hbp_matrix_free", problem, options_for(problem, options), matrix_free_competitors(options)};
  contest.steps = options.quick ? 30 : 1000;
  contest.interval = options.quick ? 5 : 50;
  contest.seeds = options.quick ? 1 : 3;
  if (options.quick) {
    contest.training.data.limit = 500;
    result.data.push_back(
        "a net of an eighth of the widths, batches of 100, 10 iterations a solve, 500 samples");
  }
  take_sizes(contest, options);
  const std::vector<Competed> all = compete(contest, options, result);
  result.pictures.emplace(
      "figure",
      figure_of("Exact curvature products on " + problem.name,
                {curves_panel(all, &LearningCurve::train_loss, "loss on part of the training data"),
                 curves_panel(all, &LearningCurve::test_loss, "loss on the test data"),
                 seconds_panel(all, &LearningCurve::train_loss, "training loss over time")}));
  const double plateau = std::log(static_cast<double>(problem.classes));
  const double sgd = competed_of(all, "SGD").last(&LearningCurve::train_loss);
  const double adam = competed_of(all, "Adam").last(&LearningCurve::train_loss);
  double best = INFINITY, worst = 0;
  for (const Competed& one : all) {
    if (one.competitor.is_baseline) continue;
    const double loss = one.last(&LearningCurve::train_loss);
    best = std::min(best, loss);
    worst = std::max(worst, std::isfinite(loss) ? loss : INFINITY);
  }
  const double hasty = competed_of(all, "GGN, damping 1e-4").step_below(0.95 * plateau);
  const double careful = competed_of(all, "GGN, damping 1e-3").step_below(0.95 * plateau);
  result.compared = {
      {"training loss of SGD at the end over ln C", sgd / plateau, "1: it cannot train the net"},
      {"best of the Newton methods over Adam", best / adam, "below 1 while damping is effective"},
      {"worst of the Newton methods over ln C", worst / plateau, "below 1: all leave the plateau"},
      {"step at which the GGN with damping 1e-4 leaves the plateau", hasty, "before 1e-3"},
      {"the same with damping 1e-3", careful, "after 1e-4 (figure 4.5)"}};
  result.holds = sgd > 0.95 * plateau && worst < 0.95 * plateau && best < adam && hasty <= careful;
  result.finding = "after " + std::to_string(contest.steps) + " steps the training loss is " +
                   short_number(sgd) + " with SGD, " + short_number(adam) + " with Adam and " +
                   short_number(best) + " to " + short_number(worst) +
                   " with the Newton methods (ln C is " + short_number(plateau) + ").";
  return result;
}

}  // namespace

Experiment hbp_matrix_free() {
  return {"hbp_matrix_free",
          "Newton steps by exact curvature products against SGD, Adam and KFAC",
          "4.4, figure 4.5 (003)",
          &run_hbp_matrix_free,
          {Size::kSteps, Size::kSeeds, Size::kSamples},
          "ten seeds; the number of steps is not printed"};
}

}  // namespace flightdeck::run::experiments
