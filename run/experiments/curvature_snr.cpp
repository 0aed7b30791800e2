// SPDX-License-Identifier: MIT
// How sure a mini-batch is of its curvature and its slope along the leading eigenvectors of its
// GGN, while training.
#include <ATen/ATen.h>

#include "base/shown_number.h"
#include "flightdeck/vivit.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

// Draws a line for each direction in `all`, the most curved first.
study::Panel snr_panel(const std::string& title,
                       const std::vector<double>& steps,
                       const std::vector<std::vector<double>>& all) {
  study::Panel panel = panel_over("step + 1", title, true);
  panel.is_log_x = true;
  panel.level = 1;
  for (size_t k = 0; k < all.size(); ++k) {
    study::Line line = study::line_of(k == 0                ? "most curved direction"
                                      : k + 1 == all.size() ? "least curved of the leading"
                                                            : "directions between",
                                      k == 0 ? 0 : 1,
                                      steps,
                                      all[k]);
    if (k != 0 && k + 1 != all.size()) line.look.colour = study::Look::kMuted;
    panel.lines.push_back(std::move(line));
  }
  return panel;
}

ExperimentResult run_curvature_snr(const ExperimentOptions& options) {
  TrainingOptions chosen = options.quick
                               ? first_with_data({"mnist_mlp", "fmnist_mlp"}, options)
                               : first_with_data({"cifar10_3c3d", "fmnist_2c2d"}, options);
  chosen.optimizer = "momentum";
  chosen.hyperparameters["learning_rate"] = 0.01;
  const int64_t last = options.steps_or(options.quick ? 60 : 2000), N = options.quick ? 32 : 128;
  chosen.steps = last + 1;
  Training training(chosen);
  const int64_t C = training.problem().classes;
  ExperimentResult result(
      {"step", "curvature_first", "curvature_last", "slope_first", "slope_last"});
  name_data(training, result);
  Table ratios({"step", "direction", "curvature_snr", "slope_snr"});
  std::vector<double> steps;
  std::vector<std::vector<double>> curvatures(static_cast<size_t>(C)),
      slopes(static_cast<size_t>(C));
  visit_steps(training, log_spaced(last, options.quick ? 5 : 10), [&](int64_t step) {
    options.on_progress("curvature_snr: step " + std::to_string(step));
    const Vivit vivit(losses_of(training, 0, N), training.parameters());
    const Tensor curvature = Vivit::signal_to_noise(vivit.lambdas(C));
    const Tensor slope = Vivit::signal_to_noise(vivit.gammas(C));
    steps.push_back(static_cast<double>(step + 1));
    for (int64_t k = 0; k < C; ++k) {
      const auto at = static_cast<size_t>(k);
      curvatures[at].push_back(curvature[k].item<double>());
      slopes[at].push_back(slope[k].item<double>());
      ratios.add({step, k, curvatures[at].back(), slopes[at].back()});
    }
    result.table.add({step,
                      curvatures.front().back(),
                      curvatures.back().back(),
                      slopes.front().back(),
                      slopes.back().back()});
  });
  result.figures.emplace("ratios", std::move(ratios));
  result.pictures.emplace("figure",
                          figure_of("Directional derivatives along the leading " +
                                        std::to_string(C) + " eigenvectors, " + chosen.problem,
                                    {snr_panel("curvature: signal to noise", steps, curvatures),
                                     snr_panel("slope: signal to noise", steps, slopes)}));
  std::vector<double> at_start, at_end;
  for (const std::vector<double>& line : curvatures) {
    at_start.push_back(line.front());
    at_end.push_back(line.back());
  }
  const double start = mean(at_start), end = mean(at_end);
  result.compared = {{"curvature's signal to noise at the start, mean of the directions",
                      start,
                      "above 1 (figure 7.6)"},
                     {"the same at the end over that at the start",
                      end / start,
                      "0.01: two orders of magnitude over a whole training"}};
  result.holds = start > 1 && end < start / 10;
  result.finding = "the mean signal-to-noise ratio of the curvature goes from " +
                   short_number(start) + " to " + short_number(end) + " within " +
                   std::to_string(last) + " steps (published: from above 1 by two orders of " +
                   "magnitude over a whole training).";
  return result;
}

}  // namespace

Experiment curvature_snr() {
  return {"curvature_snr",
          "Signal-to-noise ratio of directional curvature while training",
          "7.3.3 (003)",
          &run_curvature_snr,
          {Size::kSteps, Size::kSamples}};
}

}  // namespace flightdeck::run::experiments
