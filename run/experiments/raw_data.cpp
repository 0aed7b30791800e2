// SPDX-License-Identifier: MIT
// Pixels that nobody scaled: the same net on the same images in [0, 255] and normalised. The
// gradient histogram, whose range is around [-1, 1] on purpose, shows it at once.
#include <algorithm>

#include "base/shown_number.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

// The default bins of grad_hist_1d have an edge here.
constexpr double kUsual = 1.0;

std::vector<int64_t> tracked_steps(const ExperimentOptions& options) {
  return options.quick ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0, 1, 10, 50};
}

ExperimentResult run_raw_data(const ExperimentOptions& options) {
  const std::vector<int64_t> steps = tracked_steps(options);
  TrainingOptions chosen = first_with_data({"cifar10_3c3d", "fmnist_2c2d"}, options);
  // This rate is small enough for raw pixels too: a run that diverges would be seen without a
  // histogram.
  chosen.hyperparameters["learning_rate"] = 1e-5;
  chosen.steps = steps.back() + 1;
  if (options.quick) chosen.batch_size = 16;

  ExperimentResult result({"step", "normalised_outside", "raw_outside"});
  Table histograms({"data", "step", "low", "high", "count"});
  std::map<std::string, std::vector<double>> shares;
  study::Figure figure;
  figure.title = "Entries of individual gradients at the start, raw against normalised pixels";
  for (const std::string data : {"normalised", "raw"}) {
    options.on_progress("raw_data: " + data);
    chosen.data.raw = data == "raw";
    Training training(chosen);
    name_data(training, result);
    const auto values = watched(training, {quantity("grad_hist_1d").on(DueSteps::at(steps))});
    for (const int64_t step : steps) {
      const Reading* histogram = values->find(step, "grad_hist_1d");
      shares[data].push_back(share_outside(*histogram, kUsual));
      add_bins(histograms, {data, step}, *histogram);
      if (step != steps.front()) continue;
      study::Panel panel;
      panel.title = data + " images: entries per bin";
      panel.x_label = "gradient entry (those beyond are counted apart)";
      panel.is_log_y = panel.is_stepped = true;
      panel.lines = {bins_line(data, figure.panels.size(), *histogram)};
      study::fit_limits(panel);
      figure.panels.push_back(std::move(panel));
    }
  }
  for (size_t k = 0; k < steps.size(); ++k) {
    result.table.add({steps[k], shares["normalised"][k], shares["raw"][k]});
  }
  result.figures.emplace("histograms", std::move(histograms));

  result.pictures.emplace("figure", std::move(figure));
  const double normalised = shares["normalised"].front(), raw = shares["raw"].front();
  result.compared = {{"share of entries outside [-1, 1], raw over normalised",
                      raw / std::max(normalised, 1e-12),
                      "much above 1 (figure 7.3, no number in the text)"}};
  result.holds = raw > 0.001 && raw > 10 * normalised;
  result.finding =
      "at the same parameters and on the same images, a share of " + short_number(raw) +
      " of the entries of individual gradients lies outside [-1, 1] with raw pixels, " +
      short_number(normalised) + " with normalised ones.";
  return result;
}

}  // namespace

Experiment raw_data() {
  return {"raw_data",
          "Gradient histogram of raw [0, 255] against normalised images",
          "7.3.1",
          &run_raw_data};
}

}  // namespace flightdeck::run::experiments
