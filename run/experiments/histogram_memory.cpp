// SPDX-License-Identifier: MIT
// Memory of a gradient histogram: individual gradients of the whole net kept and counted at the
// end, against counted layer by layer while they arise. Bytes are counted, so any machine gives the
// same.
#include <algorithm>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <torch/autograd.h>
#include <torch/nn/module.h>

#include "base/shown_number.h"
#include "flightdeck/cockpit.h"
#include "flightdeck/gradients.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

struct Peaks {
  double training = 0, kept = 0, layerwise = 0;  // MiB
};

Peaks measure_peaks(const suite::Problem& problem, int64_t N, const ExperimentOptions& options) {
  at::manual_seed(options.seed);
  const suite::Model model = problem.build();
  const suite::Batch batch = problem.random_batch(N);
  const Parameters named = model.module->named_parameters();
  const auto losses = [&] { return problem.losses(model.forward(batch.inputs), batch.targets); };
  const auto peak = [&options](const std::function<void()>& work) {
    const std::optional<int64_t> bytes = options.peak_bytes(work);
    TORCH_CHECK(bytes.has_value(), "histogram_memory: this build cannot count memory on the CPU");
    return static_cast<double>(*bytes) / kMebibyte;
  };
  const auto forget = [&] {
    for (const NamedParameter& parameter : named) parameter.tensor.mutable_grad().reset();
  };
  Peaks peaks;
  peaks.training = peak([&] { losses().mean().backward(); });
  forget();
  peaks.kept = peak([&] {
    const Tensor each = losses();
    const Gradients all = gradients(each, named, Need::kMean | Need::kIndividual);
    each.mean().backward();
    for (const ParameterGradients& parameter : all.parameters) {
      // This counts sample by sample, because counting itself shall need almost no memory.
      for (int64_t n = 0; n < N; ++n) (void)parameter.individual[n].histc(100, -2, 2);
    }
  });
  forget();
  CockpitOptions strict;
  strict.strict = true;
  Cockpit cockpit(named, {quantity("grad_hist_1d")}, strict);
  cockpit.add_sink(std::make_shared<MemorySink>());
  peaks.layerwise = peak([&] {
    const Tensor each = losses();
    StepWatch watch = cockpit.watch(0, each);
    each.mean().backward();
    watch.end();
  });
  return peaks;
}

ExperimentResult run_histogram_memory(const ExperimentOptions& options) {
  TORCH_CHECK(options.peak_bytes,
              "histogram_memory: nobody counts memory; set options.peak_bytes to a function that "
              "returns the most bytes that its argument held");
  const int64_t N = options.quick ? 16 : 128;
  ExperimentResult result(
      {"problem", "parameters", "largest_layer", "training_mib", "kept_mib", "layerwise_mib"});
  study::Panel panel = panel_over("", "peak of tensor memory in MiB", true);
  std::vector<double> places, training, kept, layerwise;
  result.holds = true;
  double least = 1e300;  // saved bytes over what layer by layer must save
  for (const std::string& name :
       {std::string("fmnist_2c2d"), std::string("mnist_mlp"), std::string("cifar10_3c3d")}) {
    options.on_progress("histogram_memory: " + name);
    const suite::Problem& problem = suite::find_problem(name);
    const Peaks peaks = measure_peaks(problem, N, options);
    int64_t largest = 0;
    for (const Tensor& parameter : problem.build().module->parameters()) {
      largest = std::max(largest, parameter.numel());
    }
    const double expected = static_cast<double>(N * (problem.parameters - largest) * 4) / kMebibyte;
    least = std::min(least, (peaks.kept - peaks.layerwise) / expected);
    result.holds = result.holds && peaks.kept - peaks.layerwise >= 0.95 * expected;
    result.table.add(
        {name, problem.parameters, largest, peaks.training, peaks.kept, peaks.layerwise});
    panel.x_names.push_back(name);
    places.push_back(static_cast<double>(places.size()));
    training.push_back(peaks.training);
    kept.push_back(peaks.kept);
    layerwise.push_back(peaks.layerwise);
  }
  result.figures.emplace("peaks", result.table);
  panel.lines = {study::dots_of("training alone", 7, places, training),
                 study::dots_of("individual gradients kept, then counted", 1, places, kept),
                 study::dots_of("counted layer by layer", 0, places, layerwise)};
  study::Figure figure =
      figure_of("Memory of a gradient histogram, N = " + std::to_string(N), {panel});
  figure.panels[0].x_low = -0.5;
  figure.panels[0].x_high = static_cast<double>(places.size()) - 0.5;
  result.pictures.emplace("figure", std::move(figure));
  result.data = {"random images of the right shape; memory does not depend on them"};
  result.compared = {
      {"least of what is saved, over the individual gradients of all but the largest parameter",
       least,
       "1: 149 MB of 437 for 3c3d with N = 128 (C.5.1)"},
      {"3c3d: MiB saved by counting layer by layer",
       kept.back() - layerwise.back(),
       options.quick ? "142 with N = 128, 17.8 with N = 16" : "142 (149 MB)"},
      {"3c3d: peak counted layer by layer over training alone",
       layerwise.back() / training.back(),
       "figure C.5c, no number in the text"}};
  result.finding = "counting layer by layer saves " + short_number(kept[0] - layerwise[0]) + ", " +
                   short_number(kept[1] - layerwise[1]) + " and " +
                   short_number(kept[2] - layerwise[2]) +
                   " MiB on 2c2d, the perceptron and 3c3d with " + std::to_string(N) +
                   " samples; on 3c3d the peak is " + short_number(layerwise[2]) +
                   " MiB, with individual gradients kept " + short_number(kept[2]) +
                   ", of training alone " + short_number(training[2]) + ".";
  return result;
}

}  // namespace

Experiment histogram_memory() {
  return {"histogram_memory",
          "Peak memory of gradient histograms, kept gradients against layer by layer",
          "C.5.1",
          &run_histogram_memory};
}

}  // namespace flightdeck::run::experiments
