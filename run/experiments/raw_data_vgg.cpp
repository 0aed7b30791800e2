// SPDX-License-Identifier: MIT
// Pixels that nobody scaled, on a large net: VGG with 16 layers, images in [0, 255] and normalised.
#include <algorithm>

#include "base/shown_number.h"
#include "run/watched_training.h"
#include "suite/nets/vgg.h"

namespace flightdeck::run::experiments {
namespace {

// The two bins around 0 of grad_hist_1d end here by default. The published figure is judged by eye;
// here the share of entries beyond these bins says how wide it is.
constexpr double kMiddle = 0.04;

ExperimentResult run_raw_data_vgg(const ExperimentOptions& options) {
  suite::Problem problem = on_images_here("imagenet_vgg16", options, [&options](int64_t classes) {
    return suite::nets::vgg(
        16, classes, options.quick ? suite::nets::VggSize{16, 32} : suite::nets::VggSize{});
  });
  if (options.quick) problem.name = "small " + problem.name;
  ExperimentResult result({"images", "outside_1", "outside_0.04"});
  if (options.quick) {
    result.data.push_back("a net of a sixteenth of the widths on images of 32 x 32, 16 samples");
  }
  Table histograms({"data", "low", "high", "count"});
  study::Figure figure;
  figure.title = "Entries of individual gradients of VGG16 at the start";
  std::vector<double> shares;
  for (const std::string data : {"normalised", "raw"}) {
    options.on_progress("raw_data_vgg: " + data);
    TrainingOptions chosen = options_for(problem, options);
    chosen.data.raw = data == "raw";
    chosen.steps = 1;
    chosen.batch_size = options.quick ? 16 : 4;
    Training training(problem, chosen);
    name_data(training, result);
    const auto values = watched(training, {quantity("grad_hist_1d")});
    const Reading& histogram = *values->find(0, "grad_hist_1d");
    shares.push_back(share_outside(histogram, kMiddle));
    add_bins(histograms, {data}, histogram);
    result.table.add({data, share_outside(histogram, 1.0), shares.back()});
    study::Panel panel = panel_over(
        "gradient entry (those beyond are counted apart)", data + " images: entries per bin", true);
    panel.is_stepped = true;
    panel.lines = {bins_line(data, figure.panels.size(), histogram)};
    study::fit_limits(panel);
    figure.panels.push_back(std::move(panel));
  }
  result.figures.emplace("histograms", std::move(histograms));
  result.pictures.emplace("figure", std::move(figure));
  result.compared = {{"share of entries outside [-0.04, 0.04], raw over normalised",
                      shares[1] / std::max(shares[0], 1e-12),
                      "above 1, less drastic than for 3c3d (figure C.3, no number in the text)"}};
  result.holds = shares[1] > shares[0];
  result.finding = "at the same parameters and on the same images, a share of " +
                   short_number(shares[1]) +
                   " of the entries of individual gradients lies outside [-0.04, 0.04] with raw "
                   "pixels, " +
                   short_number(shares[0]) + " with normalised ones.";
  return result;
}

}  // namespace

Experiment raw_data_vgg() {
  return {"raw_data_vgg",
          "Gradient histogram of VGG16 on raw [0, 255] against normalised images",
          "C.4.1",
          &run_raw_data_vgg};
}

}  // namespace flightdeck::run::experiments
