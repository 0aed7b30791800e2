// SPDX-License-Identifier: MIT
// Newton steps with batch-averaged blocks of the PCH-abs against Momentum on a deep sigmoid net
// that begins on a plateau; each block whole, and split into blocks of lines that are solved apart.
#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>
#include <torch/autograd.h>

#include "base/shown_number.h"
#include "flightdeck/products.h"
#include "flightdeck/spectra.h"
#include "run/learning_curves.h"
#include "suite/nets/fcnn.h"
#include "suite/optimizers/curvature/hbp.h"

namespace flightdeck::run::experiments {
namespace {

constexpr double kBlockDamping = 0.02, kBlockTolerance = 0.1;
constexpr int64_t kBlockIterations = 50;
constexpr int64_t kSplits[] = {1, 4, 16};

std::string name_of_split(int64_t blocks) {
  return blocks == 1 ? "PCH-abs, whole blocks" : "PCH-abs, split into " + std::to_string(blocks);
}

// Settings are those of appendix A.5; the splits of the figure are not printed.
std::vector<Competitor> sub_block_competitors() {
  std::vector<Competitor> all = {
      {"Momentum", "momentum", {{"learning_rate", 0.1}, {"momentum", 0.9}}, 0, true}};
  for (const int64_t blocks : kSplits) {
    all.push_back(newton_competitor(
        name_of_split(blocks), "hbp_pch_abs", 0.1, kBlockDamping, kBlockIterations, 0));
    all.back().hyperparameters["averaged"] = 2;
    all.back().hyperparameters["row_blocks"] = static_cast<double>(blocks);
  }
  return all;
}

// Sums over parameters, for each split, the iterations of conjugate gradients that the longest
// solve takes at the start: a step waits for these where the blocks of a parameter are solved side
// by side.
std::vector<double> longest_solves(const Training& training) {
  const Tensor losses = losses_of(training, 0, training.batch_size());
  AveragedBlocksOptions asked;
  asked.kind = CurvatureKind::kPchAbs;
  asked.average = BatchAverage::kJacobians;
  std::vector<Tensor> tensors;
  for (const NamedParameter& parameter : training.parameters()) tensors.push_back(parameter.tensor);
  const std::vector<Tensor> gradients =
      torch::autograd::grad({losses.mean()}, tensors, {}, /*retain_graph=*/true);
  const auto blocks = averaged_blocks(losses, training.parameters(), asked);
  SolveOptions how;
  how.tolerance = kBlockTolerance;
  how.max_iterations = kBlockIterations;
  std::vector<double> sums;
  at::NoGradGuard without_gradients;
  for (const int64_t split : kSplits) {
    double sum = 0;
    for (size_t i = 0; i < blocks.size(); ++i) {
      const Tensor right = gradients[i].reshape({-1});
      int64_t longest = 0;
      for (const auto& [begin, end] : line_blocks(tensors[i], split)) {
        const auto part = std::make_shared<SubBlockOperator>(blocks[i].block, begin, end);
        const Solution solved =
            conjugate_gradients(suite::LimitedOperator(part, kBlockDamping, 0.0),
                                right.slice(0, begin, end).unsqueeze(0),
                                how);
        longest = std::max(longest, solved.iterations[0]);
      }
      sum += static_cast<double>(longest);
    }
    sums.push_back(sum);
  }
  return sums;
}

ExperimentResult run_hbp_sub_blocks(const ExperimentOptions& options) {
  suite::Problem problem = on_images_here("cifar10_fcnn", options, [&options](int64_t) {
    return options.quick ? suite::nets::fcnn({3072, 48, 40, 32, 24, 16, 10}) : suite::nets::fcnn();
  });
  if (options.quick) problem.name = "small " + problem.name;
  ExperimentResult result(kCompetedColumns);
  Contest contest{
      "hbp_sub_blocks", problem, options_for(problem, options), sub_block_competitors()};
  contest.steps = options.quick ? 30 : 2000;
  contest.interval = options.quick ? 5 : 100;
  contest.seeds = options.quick ? 1 : 3;
  if (options.quick) {
    for (Competitor& each : contest.competitors) each.batch_size = 200;
    result.data.push_back("a net of widths 3072, 48, 40, 32, 24, 16, 10 and batches of 200");
  }
  take_sizes(contest, options);
  const std::vector<Competed> all = compete(contest, options, result);
  TrainingOptions at_start = contest.training;
  at_start.batch_size = contest.competitors[0].batch_size;
  at_start.steps = 1;
  const std::vector<double> iterations = longest_solves(Training(problem, at_start));

  result.pictures.emplace(
      "figure",
      figure_of("PCH-abs with batch averages on " + problem.name,
                {curves_panel(all, &LearningCurve::train_loss, "loss on part of the training data"),
                 curves_panel(all, &LearningCurve::test_accuracy, "accuracy on the test data")}));
  // A net that has learned nothing has the loss ln C.
  const double left = 0.95 * std::log(static_cast<double>(problem.classes));
  const double momentum = all[0].step_below(left), whole = all[1].step_below(left);
  double split = 0;
  for (size_t k = 2; k < all.size(); ++k) split = std::max(split, all[k].step_below(left));
  const double whole_loss = all[1].last(&LearningCurve::train_loss);
  const double split_loss = all.back().last(&LearningCurve::train_loss);
  result.compared = {
      {"step at which Momentum has left the plateau", momentum, "after PCH-abs (figure 4.4)"},
      {"the same, PCH-abs with whole blocks", whole, "before Momentum"},
      {"the same, the slowest split", split, "as whole blocks: splitting costs nothing at first"},
      {"training loss at the end, most split over whole blocks",
       split_loss / whole_loss,
       "above 1: later stages need large blocks"},
      {"iterations of the longest solves, whole blocks", iterations.front(), "the most"},
      {"the same, split the most", iterations.back(), "fewer (4.4)"}};
  const bool is_faster = whole < momentum;
  const bool is_as_fast = std::isfinite(split) && split <= 1.25 * whole;
  result.holds =
      is_faster && is_as_fast && split_loss >= whole_loss && iterations.back() < iterations.front();
  result.finding = "the training loss is below 95 % of ln C at step " + short_number(whole) +
                   " with whole blocks, at step " + short_number(split) +
                   " with the slowest split and at step " + short_number(momentum) +
                   " with Momentum (inf: not within " + std::to_string(contest.steps) +
                   " steps); at the end it is " + short_number(whole_loss) +
                   " with whole blocks and " + short_number(split_loss) +
                   " split the most; the longest solves take " + short_number(iterations.front()) +
                   " and " + short_number(iterations.back()) + " iterations.";
  return result;
}

}  // namespace

Experiment hbp_sub_blocks() {
  return {"hbp_sub_blocks",
          "Newton steps by averaged curvature blocks, whole and split, against Momentum",
          "4.4 (003)",
          &run_hbp_sub_blocks,
          {Size::kSteps, Size::kSeeds, Size::kSamples},
          "ten seeds; the number of steps is not printed"};
}

}  // namespace flightdeck::run::experiments
