// SPDX-License-Identifier: MIT
// The space of the C most curved directions while a network trains: of the GGN against the
// Hessian's, of mini-batches and of ViViT's approximations against that of many samples.
#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>

#include "base/shown_number.h"
#include "flightdeck/products.h"
#include "flightdeck/spectra.h"
#include "flightdeck/vivit.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

// Lines [C, D].
Tensor leading_space(const Tensor& losses,
                     const Parameters& parameters,
                     CurvatureKind kind,
                     int64_t C,
                     uint64_t seed) {
  const auto op = curvature_operator(losses, parameters, kind);
  EigenOptions options;
  options.largest = C;
  options.max_products = 30 * C;
  options.until_proved = false;
  options.seed = seed;
  return eigenpairs(*op, options).vectors;
}

Tensor vivit_space(const Tensor& losses,
                   const Parameters& parameters,
                   int64_t samples,
                   LossColumns columns,
                   int64_t C) {
  VivitOptions options;
  options.gradients = false;
  options.columns = columns;
  std::vector<int64_t> chosen(static_cast<size_t>(samples));
  std::iota(chosen.begin(), chosen.end(), int64_t{0});
  const Vivit vivit(Batch(losses, parameters).of(chosen), options);
  const int64_t count = std::min(C, vivit.rank());
  std::vector<Tensor> parts;
  for (const Tensor& part : vivit.eigenvectors(count)) parts.push_back(part.flatten(1));
  return at::cat(parts, 1);
}

struct Case {
  std::string name;
  int64_t samples;
  LossColumns columns;
};

ExperimentResult run_eigenspaces(const ExperimentOptions& options) {
  TrainingOptions chosen = options.quick
                               ? first_with_data({"mnist_logreg", "fmnist_logreg"}, options)
                               : first_with_data({"cifar10_3c3d", "fmnist_2c2d"}, options);
  chosen.optimizer = "momentum";
  chosen.hyperparameters["learning_rate"] = 0.01;
  const int64_t last = options.quick ? 60 : 1000, many = options.quick ? 256 : 1000;
  chosen.steps = last + 1;
  const int64_t repeats = options.quick ? 2 : 3, batch = options.quick ? 64 : 128;
  Training training(chosen);
  const int64_t C = training.problem().classes;
  const std::vector<Case> cases = {
      {"N = " + std::to_string(batch), batch, LossColumns::kExact},
      {"N = " + std::to_string(batch / 4), batch / 4, LossColumns::kExact},
      {"N = " + std::to_string(batch / 8), batch / 8, LossColumns::kExact},
      {"N = " + std::to_string(batch) + ", sampled", batch, LossColumns::kSampled},
      {"N = " + std::to_string(batch / 8) + ", sampled", batch / 8, LossColumns::kSampled}};
  ExperimentResult result({"step", "hessian", "batch", "eighth", "batch_sampled"});
  name_data(training, result);
  result.data.push_back("'many' samples are " + std::to_string(many) +
                        " of the training part, not all of it");
  Table overlaps({"step", "space", "draw", "overlap"});
  std::vector<double> steps, hessian;
  std::vector<std::vector<double>> means(cases.size());
  visit_steps(training, log_spaced(last, options.quick ? 4 : 8), [&](int64_t step) {
    options.on_progress("eigenspaces: step " + std::to_string(step));
    const Parameters& parameters = training.parameters();
    const Tensor losses = losses_of(training, 0, many);
    const Tensor ggn = leading_space(losses, parameters, CurvatureKind::kGgn, C, options.seed);
    hessian.push_back(subspace_overlap(
        ggn, leading_space(losses, parameters, CurvatureKind::kHessian, C, options.seed)));
    overlaps.add({step, "hessian", 0, hessian.back()});
    steps.push_back(static_cast<double>(step + 1));
    for (size_t k = 0; k < cases.size(); ++k) {
      double sum = 0;
      for (int64_t draw = 0; draw < repeats; ++draw) {
        // Samples that the large batch does not hold, as it would be with a whole data set's share.
        const Tensor few = losses_of(training, many + draw * batch, batch);
        const double overlap = subspace_overlap(
            ggn, vivit_space(few, parameters, cases[k].samples, cases[k].columns, C));
        overlaps.add({step, cases[k].name, draw, overlap});
        sum += overlap;
      }
      means[k].push_back(sum / static_cast<double>(repeats));
    }
    result.table.add({step, hessian.back(), means[0].back(), means[2].back(), means[3].back()});
  });
  result.figures.emplace("overlaps", std::move(overlaps));
  study::Panel first = panel_over("step + 1", "GGN and Hessian of many samples: overlap");
  study::Panel second = panel_over("step + 1", "mini-batches and many samples: overlap");
  first.is_log_x = second.is_log_x = true;
  first.lines = {study::line_of("Hessian", 6, steps, hessian)};
  for (size_t k = 0; k < cases.size(); ++k) {
    second.lines.push_back(study::line_of(cases[k].name, k, steps, means[k]));
    second.lines.back().look.is_dashed = cases[k].columns == LossColumns::kSampled;
  }
  study::Figure figure = figure_of("Spaces of the leading " + std::to_string(C) +
                                       " directions while training, " + chosen.problem,
                                   {first, second});
  for (study::Panel& panel : figure.panels) {
    panel.y_low = 0;
    panel.y_high = 1.02;
  }
  result.pictures.emplace("figure", std::move(figure));

  const double late = hessian.back();
  const bool is_ordered = mean(means[0]) > mean(means[1]) && mean(means[1]) > mean(means[2]) &&
                          mean(means[0]) > mean(means[3]) && mean(means[3]) > mean(means[4]);
  const bool decays = means[0].back() < means[0].front();
  result.compared = {
      {"overlap of the GGN's and the Hessian's space at the end",
       late,
       "0.85 or more (figure 7.3)"},
      {"overlap of the batch's space at the start", means[0].front(), "falls while training"},
      {"the same at the end", means[0].back(), "below that at the start (figure 7.4)"},
      {"mean overlap of the batch over that of an eighth of its samples",
       mean(means[0]) / mean(means[2]),
       "above 1 (figures 7.4, 7.5)"}};
  result.holds = late >= 0.85 && is_ordered && decays;
  result.finding =
      "at the end the spaces of GGN and Hessian overlap by " + short_number(late) +
      "; that of a batch overlaps with that of many samples by " + short_number(means[0].front()) +
      " at the start and " + short_number(means[0].back()) + " at the end" +
      (decays ? "" : ", which is no decay") + "; fewer samples and sampled Hessians " +
      (is_ordered ? "are worse in the published order." : "are not in the published order.");
  return result;
}

}  // namespace

Experiment eigenspaces() {
  return {"eigenspaces",
          "Overlap of leading eigenspaces: GGN, Hessian, mini-batches, approximations",
          "7.3.2 (003)",
          &run_eigenspaces};
}

}  // namespace flightdeck::run::experiments
