// SPDX-License-Identifier: MIT
// How wrong the curvature of a mini-batch's quadratic model is along its own leading directions,
// held against the whole data set: exact, and by ViViT's approximations, while training.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <ATen/ATen.h>

#include "base/shown_number.h"
#include "flightdeck/vivit.h"
#include "run/watched_training.h"
#include "suite/nets/conv_2c2d.h"

namespace flightdeck::run::experiments {
namespace {

struct NoisyCase {
  std::string name;
  int64_t samples;
  LossColumns columns;
};

struct Along {
  Tensor curvatures;  // [C], of the approximation
  Tensor directions;  // [C, D]
};

// Returns the leading C eigenpairs of an approximation, fewer where its rank is lower.
Along leading_pairs(const Tensor& losses,
                    const Parameters& parameters,
                    const NoisyCase& way,
                    int64_t C,
                    uint64_t seed) {
  VivitOptions options;
  options.gradients = false;
  options.columns = way.columns;
  options.seed = seed;
  std::vector<int64_t> chosen(static_cast<size_t>(way.samples));
  std::iota(chosen.begin(), chosen.end(), int64_t{0});
  const Vivit vivit(Batch(losses, parameters).of(chosen), options);
  const int64_t count = std::min(C, vivit.rank());
  std::vector<Tensor> parts;
  for (const Tensor& part : vivit.eigenvectors(count)) parts.push_back(part.flatten(1));
  return {vivit.eigenvalues().slice(0, 0, count), at::cat(parts, 1)};
}

// Returns the mean over the directions of |own - whole| / whole.
double relative_error(const Along& own, const CurvatureOperator& whole) {
  const Tensor images = whole.multiply(own.directions);
  const Tensor of_whole = (images * own.directions).sum(1).to(at::kDouble);
  return ((own.curvatures.to(at::kDouble) - of_whole).abs() / of_whole).mean().item<double>();
}

// Decides by `means`, the errors of each approximation over the steps.
void judge(const std::vector<std::vector<double>>& means, ExperimentResult& result) {
  const double exact = mean(means[0]), mc = mean(means[1]), sub = mean(means[2]),
               both = mean(means[3]);
  const bool is_ordered = exact < mc && exact < sub && mc < both && sub < both;
  const bool grows = means[0].back() > means[0].front();
  result.compared = {
      {"mean error of the mini-batch's own curvature", exact, "the smallest (figure D.18)"},
      {"the same with one would-be gradient a sample", mc, "larger"},
      {"the same with an eighth of the samples", sub, "larger"},
      {"the same with both", both, "the largest"},
      {"error of the mini-batch at the end over that at the start",
       means[0].back() / means[0].front(),
       "above 1: worse over training"}};
  result.holds = is_ordered && grows;
  result.finding = "along its own leading directions a mini-batch's curvature is off by " +
                   short_number(exact) + " of the whole data set's at the mean of all steps, by " +
                   short_number(mc) + " if sampled, " + short_number(sub) +
                   " with an eighth of the samples and " + short_number(both) +
                   " with both; that of the mini-batch goes from " +
                   short_number(means[0].front()) + " to " + short_number(means[0].back()) + ".";
}

ExperimentResult run_curvature_under_noise(const ExperimentOptions& options) {
  TrainingOptions chosen = first_with_data({"fmnist_2c2d", "mnist_2c2d"}, options);
  suite::Problem problem = suite::find_problem(chosen.problem);
  const int64_t N = options.quick ? 64 : 128, draws = options.quick ? 2 : 3;
  const int64_t last = options.steps_or(options.quick ? 100 : 1000);
  ExperimentResult result({"step", "mb_exact", "mb_mc", "sub_exact", "sub_mc"});
  if (options.quick) {
    problem.name = "small " + problem.name;
    problem.build = [] { return suite::nets::conv_2c2d(16); };
    chosen.data.limit = 300;
    result.data.push_back("a net of a sixteenth of the widths, 300 samples as the whole data set");
  }
  chosen.optimizer = "momentum";
  chosen.hyperparameters = {{"learning_rate", 2.07e-2}, {"momentum", 0.9}};
  chosen.steps = last + 1;
  Training training(problem, chosen);
  name_data(training, result);
  const int64_t C = problem.classes;
  const std::vector<NoisyCase> cases = {{"mb, exact", N, LossColumns::kExact},
                                        {"mb, mc", N, LossColumns::kSampled},
                                        {"sub, exact", N / 8, LossColumns::kExact},
                                        {"sub, mc", N / 8, LossColumns::kSampled}};
  Table errors({"step", "approximation", "draw", "relative_error"});
  std::vector<double> steps;
  std::vector<std::vector<double>> means(cases.size());
  const auto whole = training_data_operator(training, CurvatureKind::kGgn);
  visit_steps(training, log_spaced(last, options.quick ? 4 : 12), [&](int64_t step) {
    options.on_progress("curvature_under_noise: step " + std::to_string(step));
    steps.push_back(static_cast<double>(step + 1));
    std::vector<Cell> row = {step};
    for (size_t k = 0; k < cases.size(); ++k) {
      double sum = 0;
      for (int64_t draw = 0; draw < draws; ++draw) {
        const uint64_t seed = options.seed + static_cast<uint64_t>(draw);
        const Along own = leading_pairs(
            losses_of(training, draw * N, N), training.parameters(), cases[k], C, seed);
        const double error = relative_error(own, *whole);
        errors.add({step, cases[k].name, draw, error});
        sum += error;
      }
      means[k].push_back(sum / static_cast<double>(draws));
      row.push_back(means[k].back());
    }
    result.table.add(std::move(row));
  });
  result.figures.emplace("errors", std::move(errors));
  study::Panel panel = panel_over("step + 1", "mean relative error of the curvature", true);
  panel.is_log_x = true;
  for (size_t k = 0; k < cases.size(); ++k) {
    panel.lines.push_back(study::line_of(cases[k].name, k, steps, means[k]));
    panel.lines.back().look.is_dashed = cases[k].columns == LossColumns::kSampled;
  }
  result.pictures.emplace(
      "figure",
      figure_of("Curvature of mini-batch models against the whole data set's, " + problem.name,
                {panel}));
  judge(means, result);
  return result;
}

}  // namespace

Experiment curvature_under_noise() {
  return {"curvature_under_noise",
          "Error of mini-batch curvature along its leading directions while training",
          "D.2.5 (003)",
          &run_curvature_under_noise,
          {Size::kSteps, Size::kSamples}};
}

}  // namespace flightdeck::run::experiments
