// SPDX-License-Identifier: MIT
// All nontrivial eigenvalues of a mini-batch GGN, exact and under ViViT's approximations: fewer
// samples, sampled loss Hessians, both; of the whole matrix and of its blocks, layer by layer.
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

// Groups the positions of the parameters by layer, the part of their names before the last dot.
std::vector<std::vector<size_t>> layers_of(const Parameters& parameters) {
  std::vector<std::vector<size_t>> layers;
  std::string before;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string layer = parameters[i].name.substr(0, parameters[i].name.rfind('.'));
    if (i == 0 || layer != before) layers.emplace_back();
    layers.back().push_back(i);
    before = layer;
  }
  return layers;
}

// Returns the eigenvalues of the matrix of all parameters, or those of all its blocks together.
// There is a block for each layer, and what lies between the layers is left out.
Tensor spectrum_of(const Tensor& losses,
                   const Parameters& parameters,
                   const Approximation& way,
                   bool is_by_layer) {
  VivitOptions options;
  options.gradients = false;
  if (way.is_sampled) options.columns = LossColumns::kSampled;
  std::vector<int64_t> chosen;
  for (int64_t n = 0; way.is_part && n < losses.size(0) / 8; ++n) chosen.push_back(n);
  if (is_by_layer) options.groups = layers_of(parameters);
  const Vivit vivit(Batch(losses, parameters).of(chosen), options);
  std::vector<Tensor> all;
  for (size_t group = 0; group < vivit.groups(); ++group) {
    all.push_back(vivit.eigenvalues(group).to(at::kDouble));
  }
  return std::get<0>(at::cat(all).sort(/*dim=*/0, /*descending=*/true));
}

struct Spectra {
  study::Panel panel;
  int64_t rank = 0;  // of the exact one
  double sum = 0;    // of its eigenvalues
  double apart = 1;  // largest factor between its leading eigenvalue and an approximation's
};

Spectra spectra_of(const Training& training,
                   int64_t N,
                   bool is_by_layer,
                   const ExperimentOptions& options,
                   Table& values,
                   ExperimentResult& result) {
  const std::string blocks = is_by_layer ? "layers" : "whole";
  Spectra spectra;
  spectra.panel = panel_over(
      "place", is_by_layer ? "eigenvalues, layer by layer" : "eigenvalues of the whole GGN", true);
  spectra.panel.is_log_x = true;
  double exact = 0;
  size_t place = 0;
  for (const Approximation& way : kApproximations) {
    options.on_progress("ggn_spectra: " + blocks + ", " + way.name);
    const Tensor spectrum =
        spectrum_of(losses_of(training, 0, N), training.parameters(), way, is_by_layer).cpu();
    std::vector<double> places, heights;
    for (int64_t k = 0; k < spectrum.size(0); ++k) {
      places.push_back(static_cast<double>(k + 1));
      heights.push_back(spectrum[k].item<double>());
      values.add({blocks, way.name, k + 1, heights.back()});
    }
    const double largest = heights.front();
    if (place == 0) {
      exact = largest;
      spectra.rank = spectrum.size(0);
      spectra.sum = spectrum.sum().item<double>();
    }
    spectra.apart = std::max({spectra.apart, largest / exact, exact / largest});
    result.table.add({blocks,
                      way.name,
                      spectrum.size(0),
                      largest,
                      heights.size() > 9 ? heights[9] : std::nan("")});
    spectra.panel.lines.push_back(study::line_of(way.name, place++, places, heights));
  }
  return spectra;
}

ExperimentResult run_ggn_spectra(const ExperimentOptions& options) {
  TrainingOptions chosen = options.quick
                               ? first_with_data({"mnist_mlp", "fmnist_mlp"}, options)
                               : first_with_data({"cifar10_3c3d", "fmnist_2c2d"}, options);
  chosen.steps = 1;
  Training training(chosen);
  const int64_t N = options.quick ? 32 : 128, C = training.problem().classes;
  ExperimentResult result({"blocks", "approximation", "eigenvalues", "largest", "tenth"});
  name_data(training, result);
  Table values({"blocks", "approximation", "place", "eigenvalue"});
  const Spectra whole = spectra_of(training, N, false, options, values, result);
  const Spectra layers = spectra_of(training, N, true, options, values, result);
  result.figures.emplace("eigenvalues", std::move(values));
  result.pictures.emplace("figure",
                          figure_of("Nontrivial eigenvalues of the GGN, " + chosen.problem,
                                    {whole.panel, layers.panel}));
  const int64_t rank = whole.rank;
  const double apart = std::max(whole.apart, layers.apart);
  result.compared = {{"eigenvalues that are not zero",
                      static_cast<double>(rank),
                      "at most N C = " + std::to_string(N * C) +
                          " of D = " + std::to_string(training.problem().parameters)},
                     {"largest factor between the leading eigenvalue and an approximation of it",
                      apart,
                      "approximations keep the spectrum's shape (figures 7.1a, D.1, no number)"},
                     {"sum of the eigenvalues of all layers over that of the whole GGN",
                      layers.sum / whole.sum,
                      "1: blocks of the diagonal have its trace"}};
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
