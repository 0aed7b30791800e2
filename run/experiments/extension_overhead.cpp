// SPDX-License-Identifier: MIT
// What each answer costs beside the gradient, with ten classes and with a hundred: sampled
// curvature stays cheap, exact curvature grows with the number of classes.
#include <algorithm>
#include <limits>

#include <ATen/ATen.h>
#include <torch/autograd.h>
#include <torch/nn/module.h>

#include "base/shown_number.h"
#include "flightdeck/curvature.h"
#include "flightdeck/gradients.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

struct Extension {
  const char* name;
  std::function<void(const Tensor& losses, const Parameters& parameters)> compute;
  bool is_exact_curvature = false;  // goes with the number of classes
};

std::vector<Extension> all_extensions() {
  const auto first = [](Need need) {
    return [need](const Tensor& losses, const Parameters& parameters) {
      (void)gradients(losses, parameters, Needs(Need::kMean) | Needs(need));
    };
  };
  const auto second = [](CurvatureNeed need) {
    return [need](const Tensor& losses, const Parameters& parameters) {
      (void)gradients(losses, parameters, Need::kMean);
      (void)curvature(losses, parameters, need);
    };
  };
  return {{"individual", first(Need::kIndividual)},
          {"norms", first(Need::kNorms)},
          {"moments", first(Need::kSecondMoment)},
          {"variance", first(Need::kVariance)},
          {"DiagGGN-MC", second(CurvatureNeed::kDiagGgnMc)},
          {"KFAC", second(CurvatureNeed::kKfac)},
          {"DiagGGN", second(CurvatureNeed::kDiagGgn), true},
          {"KFLR", second(CurvatureNeed::kKflr), true}};
}

// Returns times over that of the gradient, in the order of `all_extensions`.
std::vector<double> overheads(const std::string& name,
                              int64_t N,
                              int64_t rounds,
                              const ExperimentOptions& options) {
  const suite::Problem& problem = suite::find_problem(name);
  at::manual_seed(options.seed);
  const suite::Model model = problem.build();
  const suite::Batch batch = problem.random_batch(N);
  const auto losses = [&] { return problem.losses(model.forward(batch.inputs), batch.targets); };
  const Parameters named = model.module->named_parameters();
  const std::vector<Tensor> parameters = model.module->parameters();
  const double gradient =
      shortest_seconds(rounds, [&] { torch::autograd::grad({losses().mean()}, parameters); });
  std::vector<double> ratios;
  for (const Extension& extension : all_extensions()) {
    options.on_progress("extension_overhead: " + name + ", " + extension.name);
    const double took = shortest_seconds(rounds, [&] { extension.compute(losses(), named); });
    ratios.push_back(took / gradient);
  }
  return ratios;
}

ExperimentResult run_extension_overhead(const ExperimentOptions& options) {
  const int64_t rounds = options.quick ? 1 : 3;
  const std::vector<double> ten =
      overheads("cifar10_3c3d", options.quick ? 4 : 64, rounds, options);
  // The network of a hundred classes with images of its own size is too large for a test.
  const std::vector<double> hundred =
      overheads(options.quick ? "cifar100_3c3d" : "cifar100_allcnnc",
                options.quick ? 4 : 16,
                rounds,
                options);
  const std::vector<Extension> extensions = all_extensions();
  ExperimentResult result({"extension", "classes_10", "classes_100"});
  study::Panel panel = panel_over("", "time over that of the gradient", true);
  std::vector<double> places;
  double cheap = 0, dear = std::numeric_limits<double>::infinity();
  for (size_t k = 0; k < extensions.size(); ++k) {
    result.table.add({extensions[k].name, ten[k], hundred[k]});
    panel.x_names.push_back(extensions[k].name);
    places.push_back(static_cast<double>(k));
    if (extensions[k].is_exact_curvature) {
      dear = std::min(dear, hundred[k]);
    } else {
      cheap = std::max({cheap, ten[k], hundred[k]});
    }
  }
  result.figures.emplace("overhead", result.table);
  panel.level = 1;
  panel.lines = {study::dots_of("10 classes", 0, places, ten),
                 study::dots_of("100 classes", 1, places, hundred)};
  study::Figure figure = figure_of("Answers beside the gradient", {panel});
  figure.panels[0].x_low = -0.5;
  figure.panels[0].x_high = static_cast<double>(extensions.size()) - 0.5;
  result.pictures.emplace("figure", std::move(figure));
  result.data = {"random images of the right shape; the time does not depend on them"};
  result.compared = {
      {"largest overhead of first-order and sampled answers", cheap, "little (figure 5.5)"},
      {"smallest overhead of exact curvature with 100 classes",
       dear,
       "two orders of magnitude (figure B.1, GPU)"}};
  result.holds = dear > cheap;
  result.finding = "with 100 classes exact curvature takes at least " + short_number(dear) +
                   " times the gradient, all first-order and sampled answers at most " +
                   short_number(cheap) + " times.";
  return result;
}

}  // namespace

Experiment extension_overhead() {
  return {"extension_overhead",
          "Time of first- and second-order answers over that of the gradient",
          "5.3, B.2",
          &run_extension_overhead};
}

}  // namespace flightdeck::run::experiments
