// SPDX-License-Identifier: MIT
// The space of the C most curved directions while a network trains: of the GGN against the
// Hessian's, of mini-batches and of ViViT's approximations against that of the whole data set, and
// of the approximations against that of their mini-batch.
#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>

#include "base/shown_number.h"
#include "flightdeck/spectra.h"
#include "flightdeck/vivit.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

// Returns the leading eigenvectors as lines [C, D].
Tensor leading_space(const Training& training, CurvatureKind kind, int64_t C, uint64_t seed) {
  const auto op = training_data_operator(training, kind);
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

struct SpaceCase {
  std::string name;
  int64_t samples;
  LossColumns columns;
};

// These are the cases of table D.4, but for the two smallest batches.
std::vector<SpaceCase> space_cases(int64_t batch) {
  const auto named = [](int64_t samples, const std::string& more) {
    return "N = " + std::to_string(samples) + more;
  };
  return {{named(batch, ""), batch, LossColumns::kExact},
          {named(batch / 4, ""), batch / 4, LossColumns::kExact},
          {named(batch / 8, ""), batch / 8, LossColumns::kExact},
          {named(batch, ", sampled"), batch, LossColumns::kSampled},
          {named(batch / 8, ", sampled"), batch / 8, LossColumns::kSampled}};
}

using Means = std::vector<std::vector<double>>;  // by case and step

study::Panel overlaps_panel(const std::string& title,
                            const std::vector<SpaceCase>& cases,
                            const std::vector<double>& steps,
                            const Means& means,
                            size_t first) {
  study::Panel panel = panel_over("step + 1", title);
  for (size_t k = first; k < cases.size(); ++k) {
    panel.lines.push_back(study::line_of(cases[k].name, k, steps, means[k]));
    panel.lines.back().look.is_dashed = cases[k].columns == LossColumns::kSampled;
  }
  return panel;
}

study::Figure overlaps_figure(const std::string& title,
                              const std::vector<SpaceCase>& cases,
                              const std::vector<double>& steps,
                              const std::vector<double>& hessian,
                              const Means& of_whole,
                              const Means& of_batch) {
  study::Panel first = panel_over("step + 1", "GGN and Hessian of all samples: overlap");
  first.lines = {study::line_of("Hessian", 6, steps, hessian)};
  study::Figure figure = figure_of(
      title,
      {first,
       overlaps_panel("mini-batches and all samples: overlap", cases, steps, of_whole, 0),
       overlaps_panel("approximations and their mini-batch: overlap", cases, steps, of_batch, 2)});
  for (study::Panel& panel : figure.panels) {
    panel.is_log_x = true;
    study::fit_limits(panel);
    panel.y_low = 0;
    panel.y_high = 1.02;
  }
  return figure;
}

void judge(const std::vector<double>& hessian,
           const Means& of_whole,
           const Means& of_batch,
           ExperimentResult& result) {
  const double late = hessian.back();
  const bool is_ordered =
      mean(of_whole[0]) > mean(of_whole[1]) && mean(of_whole[1]) > mean(of_whole[2]) &&
      mean(of_whole[0]) > mean(of_whole[3]) && mean(of_whole[3]) > mean(of_whole[4]);
  const bool decays = of_whole[0].back() < of_whole[0].front();
  const double sampled = mean(of_batch[3]), fewer = mean(of_batch[2]);
  result.compared = {
      {"overlap of the GGN's and the Hessian's space at the end",
       late,
       "0.85 or more (figure 7.3)"},
      {"overlap of the batch's space at the start", of_whole[0].front(), "falls while training"},
      {"the same at the end", of_whole[0].back(), "below that at the start (figure 7.4)"},
      {"mean overlap of the batch over that of an eighth of its samples",
       mean(of_whole[0]) / mean(of_whole[2]),
       "above 1 (figures 7.4, 7.5)"},
      {"overlap with the batch's own space, sampled over an eighth of the samples",
       sampled / fewer,
       "above 1 over large parts of training (figure D.17)"}};
  result.holds = late >= 0.85 && is_ordered && decays && sampled > fewer;
  result.finding =
      "at the end the spaces of GGN and Hessian overlap by " + short_number(late) +
      "; that of a batch overlaps with that of all samples by " +
      short_number(of_whole[0].front()) + " at the start and " + short_number(of_whole[0].back()) +
      " at the end" + (decays ? "" : ", which is no decay") +
      "; fewer samples and sampled Hessians " +
      (is_ordered ? "are worse in the published order" : "are not in the published order") +
      "; with their own batch's space, sampled Hessians overlap by " + short_number(sampled) +
      " and an eighth of the samples by " + short_number(fewer) + ".";
}

// Holds the sizes of the experiment and what it has found so far.
struct Overlaps {
  int64_t C = 0, batch = 0, repeats = 0;
  std::vector<SpaceCase> cases;
  Table table = Table({"step", "space", "against", "draw", "overlap"});
  std::vector<double> steps, hessian;
  Means of_whole, of_batch;
};

// Adds the overlaps of mini-batches' spaces with that of the whole data set and with their own.
void add_batches(const Training& training, const Tensor& ggn, int64_t step, Overlaps& found) {
  const size_t count = found.cases.size();
  std::vector<double> whole_sums(count), batch_sums(count);
  for (int64_t draw = 0; draw < found.repeats; ++draw) {
    const Tensor losses = losses_of(training, draw * found.batch, found.batch);
    Tensor of_all;  // samples of this mini-batch
    for (size_t k = 0; k < count; ++k) {
      const SpaceCase& one = found.cases[k];
      const Tensor space =
          vivit_space(losses, training.parameters(), one.samples, one.columns, found.C);
      if (k == 0) of_all = space;
      const double whole = subspace_overlap(ggn, space);
      const double own = k == 0 ? 1.0 : subspace_overlap(of_all, space);
      found.table.add({step, one.name, "whole", draw, whole});
      if (k > 0) found.table.add({step, one.name, "mini-batch", draw, own});
      whole_sums[k] += whole;
      batch_sums[k] += own;
    }
  }
  for (size_t k = 0; k < count; ++k) {
    found.of_whole[k].push_back(whole_sums[k] / static_cast<double>(found.repeats));
    found.of_batch[k].push_back(batch_sums[k] / static_cast<double>(found.repeats));
  }
}

ExperimentResult run_eigenspaces(const ExperimentOptions& options) {
  TrainingOptions chosen = options.quick
                               ? first_with_data({"mnist_logreg", "fmnist_logreg"}, options)
                               : first_with_data({"cifar10_3c3d", "fmnist_2c2d"}, options);
  chosen.optimizer = "momentum";
  chosen.hyperparameters["learning_rate"] = 0.01;
  const int64_t last = options.steps_or(options.quick ? 60 : 1000);
  chosen.steps = last + 1;
  Training training(chosen);
  Overlaps found;
  found.C = training.problem().classes;
  found.batch = options.quick ? 64 : 128;
  found.repeats = options.quick ? 2 : 3;
  found.cases = space_cases(found.batch);
  found.of_whole.resize(found.cases.size());
  found.of_batch.resize(found.cases.size());
  ExperimentResult result({"step", "hessian", "batch", "eighth", "batch_sampled"});
  name_data(training, result);
  result.data.push_back("the whole data set are all " +
                        std::to_string(training.data().train.size()) +
                        " samples of the training part");
  visit_steps(training, log_spaced(last, options.quick ? 4 : 8), [&](int64_t step) {
    options.on_progress("eigenspaces: step " + std::to_string(step));
    const auto space_of = [&](CurvatureKind kind) {
      return leading_space(training, kind, found.C, options.seed);
    };
    const Tensor ggn = space_of(CurvatureKind::kGgn);
    found.hessian.push_back(subspace_overlap(ggn, space_of(CurvatureKind::kHessian)));
    found.table.add({step, "hessian", "whole", 0, found.hessian.back()});
    found.steps.push_back(static_cast<double>(step + 1));
    add_batches(training, ggn, step, found);
    const Means& whole = found.of_whole;
    result.table.add(
        {step, found.hessian.back(), whole[0].back(), whole[2].back(), whole[3].back()});
  });
  result.figures.emplace("overlaps", std::move(found.table));
  result.pictures.emplace("figure",
                          overlaps_figure("Spaces of the leading " + std::to_string(found.C) +
                                              " directions while training, " + chosen.problem,
                                          found.cases,
                                          found.steps,
                                          found.hessian,
                                          found.of_whole,
                                          found.of_batch));
  judge(found.hessian, found.of_whole, found.of_batch, result);
  return result;
}

}  // namespace

Experiment eigenspaces() {
  return {"eigenspaces",
          "Overlap of leading eigenspaces: GGN, Hessian, mini-batches, approximations",
          "7.3.2 (003)",
          &run_eigenspaces,
          {Size::kSteps, Size::kSamples}};
}

}  // namespace flightdeck::run::experiments
