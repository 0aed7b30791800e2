// SPDX-License-Identifier: MIT
// One sigmoid in a network of ReLUs makes the exact diagonal of the Hessian dearer than the GGN's:
// its residual has to be propagated through everything below it.
#include <ATen/ATen.h>
#include <torch/autograd.h>
#include <torch/nn/modules/container/sequential.h>

#include "base/shown_number.h"
#include "flightdeck/curvature.h"
#include "run/watched_training.h"
#include "suite/nets/conv_3c3d.h"

namespace flightdeck::run::experiments {
namespace {

// Makes 3c3d, with a sigmoid before its last layer if asked for.
suite::Model net_with_sigmoid(bool has_sigmoid) {
  suite::Model model = suite::nets::conv_3c3d(10);
  if (!has_sigmoid) return model;
  const auto layers = std::dynamic_pointer_cast<torch::nn::SequentialImpl>(model.module);
  TORCH_INTERNAL_ASSERT(layers != nullptr);
  model.forward = [layers](const Tensor& inputs) {
    Tensor hidden = inputs;
    for (size_t k = 0; k < layers->size(); ++k) {
      if (k + 1 == layers->size()) hidden = hidden.sigmoid();
      hidden = (layers->begin() + static_cast<std::ptrdiff_t>(k))->forward(hidden);
    }
    return hidden;
  };
  return model;
}

// The seconds of one network's gradient and diagonals, and the relative distance of both.
struct Diagonals {
  double gradient, of_ggn, of_hessian, apart;
};

Diagonals measure(const suite::Problem& problem,
                  const suite::Batch& batch,
                  bool has_sigmoid,
                  int64_t rounds) {
  const suite::Model model = net_with_sigmoid(has_sigmoid);
  const Parameters named = model.module->named_parameters();
  const std::vector<Tensor> parameters = model.module->parameters();
  const auto losses = [&] { return problem.losses(model.forward(batch.inputs), batch.targets); };
  Tensor ggn, hessian;
  const double gradient =
      shortest_seconds(rounds, [&] { torch::autograd::grad({losses().mean()}, parameters); });
  const double of_ggn = shortest_seconds(rounds, [&] {
    ggn = curvature(losses(), named, CurvatureNeed::kDiagGgn)
              .concatenated(&ParameterCurvature::diag_ggn);
  });
  const double of_hessian = shortest_seconds(rounds, [&] {
    hessian = curvature(losses(), named, CurvatureNeed::kDiagHessian)
                  .concatenated(&ParameterCurvature::diag_hessian);
  });
  return {gradient, of_ggn, of_hessian, ((hessian - ggn).norm() / ggn.norm()).item<double>()};
}

study::Figure times_figure(const std::vector<double>& ggn_ratios,
                           const std::vector<double>& hessian_ratios) {
  study::Panel panel = panel_over("", "time over that of the gradient", true);
  panel.x_names = {"ReLU alone", "one sigmoid"};
  panel.lines = {study::dots_of("diagonal of the GGN", 0, {0, 1}, ggn_ratios),
                 study::dots_of("diagonal of the Hessian", 1, {0, 1}, hessian_ratios)};
  study::Figure figure = figure_of("Diagonals of 3c3d", {panel});
  figure.panels[0].x_low = -0.5;
  figure.panels[0].x_high = 1.5;
  return figure;
}

ExperimentResult run_hessian_diagonal(const ExperimentOptions& options) {
  const suite::Problem problem = suite::find_problem("cifar10_3c3d");
  at::manual_seed(options.seed);
  const suite::Batch batch = problem.random_batch(options.quick ? 2 : 16);
  ExperimentResult result({"net", "gradient_ms", "diag_ggn_ms", "diag_hessian_ms", "apart"});
  std::vector<double> ggn_ratios, hessian_ratios, aparts;
  for (const bool has_sigmoid : {false, true}) {
    const std::string name = has_sigmoid ? "one sigmoid" : "ReLU alone";
    options.on_progress("hessian_diagonal: " + name);
    const Diagonals one = measure(problem, batch, has_sigmoid, options.quick ? 1 : 3);
    aparts.push_back(one.apart);
    ggn_ratios.push_back(one.of_ggn / one.gradient);
    hessian_ratios.push_back(one.of_hessian / one.gradient);
    result.table.add({name, 1e3 * one.gradient, 1e3 * one.of_ggn, 1e3 * one.of_hessian, one.apart});
  }
  result.figures.emplace("times", result.table);
  result.pictures.emplace("figure", times_figure(ggn_ratios, hessian_ratios));
  result.data = {
      "cifar10_3c3d: random images of the right shape; the time does not depend on them"};
  const double ratio = hessian_ratios[1] / ggn_ratios[1];
  result.compared = {
      {"time of the Hessian's diagonal over the GGN's, one sigmoid",
       ratio,
       "an order of magnitude (figure B.2, GPU)"},
      {"the same with ReLU alone", hessian_ratios[0] / ggn_ratios[0], "1: they are equal"},
      {"relative distance of both diagonals with ReLU alone", aparts[0], "0: they are equal"}};
  result.holds = ratio >= 5;
  result.finding = "with one sigmoid the diagonal of the Hessian takes " + short_number(ratio) +
                   " times as long as the GGN's (published: about ten times), with ReLU alone " +
                   short_number(hessian_ratios[0] / ggn_ratios[0]) +
                   " times; their relative distance is " + short_number(aparts[1]) + " and " +
                   short_number(aparts[0]) + ".";
  return result;
}

}  // namespace

Experiment hessian_diagonal() {
  return {"hessian_diagonal",
          "Diagonal of the Hessian against the GGN's, with one sigmoid and without",
          "B.2",
          &run_hessian_diagonal};
}

}  // namespace flightdeck::run::experiments
