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

ExperimentResult run_hessian_diagonal(const ExperimentOptions& options) {
  const std::string name = "cifar10_3c3d";
  const suite::Problem& problem = suite::find_problem(name);
  const int64_t N = options.quick ? 2 : 16, rounds = options.quick ? 1 : 3;
  at::manual_seed(options.seed);
  const suite::Batch batch = problem.random_batch(N);
  ExperimentResult result({"net", "gradient_ms", "diag_ggn_ms", "diag_hessian_ms", "apart"});
  std::vector<double> places, ggn_ratios, hessian_ratios;
  std::vector<double> aparts;
  for (const bool has_sigmoid : {false, true}) {
    options.on_progress(std::string("hessian_diagonal: ") +
                        (has_sigmoid ? "one sigmoid" : "ReLU alone"));
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
    aparts.push_back(((hessian - ggn).norm() / ggn.norm()).item<double>());
    places.push_back(has_sigmoid ? 1 : 0);
    ggn_ratios.push_back(of_ggn / gradient);
    hessian_ratios.push_back(of_hessian / gradient);
    result.table.add({has_sigmoid ? "one sigmoid" : "ReLU alone",
                      1e3 * gradient,
                      1e3 * of_ggn,
                      1e3 * of_hessian,
                      aparts.back()});
  }
  result.figures.emplace("times", result.table);
  study::Panel panel = panel_over("", "time over that of the gradient", true);
  panel.x_names = {"ReLU alone", "one sigmoid"};
  panel.lines = {study::dots_of("diagonal of the GGN", 0, places, ggn_ratios),
                 study::dots_of("diagonal of the Hessian", 1, places, hessian_ratios)};
  study::Figure figure = figure_of("Diagonals of 3c3d", {panel});
  figure.panels[0].x_low = -0.5;
  figure.panels[0].x_high = 1.5;
  result.pictures.emplace("figure", std::move(figure));
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
