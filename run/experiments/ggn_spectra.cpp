// SPDX-License-Identifier: MIT
// All nontrivial eigenvalues of a mini-batch GGN, exact and under ViViT's approximations: fewer
// samples, sampled loss Hessians, both.
#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

#include "base/shown_number.h"
#include "flightdeck/vivit.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

struct Approximation {
  const char* name;
  bool is_part, is_sampled;
};
constexpr Approximation kApproximations[] = {{"exact", false, false},
                                             {"an eighth of the samples", true, false},
                                             {"one would-be gradient", false, true},
                                             {"both", true, true}};

Tensor spectrum_of(const Tensor& losses, const Parameters& parameters, const Approximation& way) {
  VivitOptions options;
  options.gradients = false;
  if (way.is_sampled) options.columns = LossColumns::kSampled;
  std::vector<int64_t> chosen;
  for (int64_t n = 0; way.is_part && n < losses.size(0) / 8; ++n) chosen.push_back(n);
  return Vivit(Batch(losses, parameters).of(chosen), options).eigenvalues().to(at::kDouble);
}

ExperimentResult run_ggn_spectra(const ExperimentOptions& options) {
  TrainingOptions chosen = options.quick
                               ? first_with_data({"mnist_mlp", "fmnist_mlp"}, options)
                               : first_with_data({"cifar10_3c3d", "fmnist_2c2d"}, options);
  chosen.steps = 1;
  Training training(chosen);
  const int64_t N = options.quick ? 32 : 128, C = training.problem().classes;
  ExperimentResult result({"approximation", "eigenvalues", "largest", "tenth"});
  name_data(training, result);
  Table values({"approximation", "place", "eigenvalue"});
  study::Panel panel = panel_over("place", "eigenvalue of the GGN", true);
  panel.is_log_x = true;
  std::vector<double> largest;
  int64_t rank = 0;
  size_t place = 0;
  for (const Approximation& way : kApproximations) {
    options.on_progress(std::string("ggn_spectra: ") + way.name);
    const Tensor spectrum = spectrum_of(losses_of(training, 0, N), training.parameters(), way);
    std::vector<double> places, heights;
    for (int64_t k = 0; k < spectrum.size(0); ++k) {
      places.push_back(static_cast<double>(k + 1));
      heights.push_back(spectrum[k].item<double>());
      values.add({way.name, k + 1, heights.back()});
    }
    if (place == 0) rank = spectrum.size(0);
    largest.push_back(heights.front());
    result.table.add({way.name,
                      spectrum.size(0),
                      heights.front(),
                      heights.size() > 9 ? heights[9] : std::nan("")});
    panel.lines.push_back(study::line_of(way.name, place++, places, heights));
  }
  result.figures.emplace("eigenvalues", std::move(values));
  result.pictures.emplace(
      "figure", figure_of("Nontrivial eigenvalues of the GGN, " + chosen.problem, {panel}));
  double apart = 1;
  for (const double value : largest) {
    apart = std::max({apart, value / largest[0], largest[0] / value});
  }
  result.compared = {{"eigenvalues that are not zero",
                      static_cast<double>(rank),
                      "at most N C = " + std::to_string(N * C) +
                          " of D = " + std::to_string(training.problem().parameters)},
                     {"largest factor between the leading eigenvalue and an approximation of it",
                      apart,
                      "approximations keep the spectrum's shape (figure 7.1a, no number)"}};
  result.holds = rank <= N * C && apart < 3;
  result.finding = std::to_string(rank) +
                   " eigenvalues are not zero, with N C = " + std::to_string(N * C) +
                   "; the leading one under the three approximations is " + "within a factor of " +
                   short_number(apart) + " of the exact one.";
  return result;
}

}  // namespace

Experiment ggn_spectra() {
  return {"ggn_spectra",
          "Spectrum of a mini-batch GGN, exact and by ViViT's approximations",
          "7.2 (003), D.2",
          &run_ggn_spectra};
}

}  // namespace flightdeck::run::experiments
