// SPDX-License-Identifier: MIT
// 3c3d with ReLU against its twin with sigmoids: over the whole net their gradient histograms are
// alike, because the dense layers have most of the entries; layer by layer the sigmoid's
// convolutions have no gradients to speak of.
#include <algorithm>
#include <cmath>

#include "base/shown_number.h"
#include "run/watched_training.h"
#include "suite/nets/conv_3c3d.h"

namespace flightdeck::run::experiments {
namespace {

using suite::nets::Nonlinearity;

// The two bins around 0 of grad_hist_1d end here by default.
constexpr double kCentral = 0.04;

std::shared_ptr<MemorySink> train(Nonlinearity nonlinearity,
                                  int64_t last_step,
                                  const ExperimentOptions& options,
                                  ExperimentResult& result) {
  const suite::Problem problem =
      on_images_here("cifar10_3c3d", options, [nonlinearity](int64_t classes) {
        return suite::nets::conv_3c3d(classes, nonlinearity);
      });
  TrainingOptions chosen = options_for(problem, options);
  chosen.data.limit = 0;
  chosen.steps = last_step + 1;
  chosen.hyperparameters["learning_rate"] = 0.01;
  if (options.quick) chosen.batch_size = 16;
  Training training(problem, chosen);
  name_data(training, result);
  return watched(
      training, {quantity("grad_hist_1d").on(DueSteps::at({last_step}))}, Grouping::by_parameter());
}

// Returns the far edge of the outermost bin that is not empty, which a person sees on a logarithmic
// axis.
double reach_of(const Reading& histogram) {
  const ReadingAxis& axis = histogram.axes.at(0);
  if (histogram.below + histogram.above > 0) return axis.high;
  double reach = 0;
  for (int64_t bin = 0; bin < axis.count; ++bin) {
    const auto edge = [&](int64_t k) {
      return std::abs(axis.low + (axis.high - axis.low) * static_cast<double>(k) /
                                     static_cast<double>(axis.count));
    };
    if (histogram.counts[bin] > 0) reach = std::max({reach, edge(bin), edge(bin + 1)});
  }
  return reach;
}

// Returns whether nearly all entries are in the two bins around 0.
bool is_degenerate(const Reading& histogram) { return share_outside(histogram, kCentral) < 1e-5; }

// Keeps the whole net and its weights; biases would double the panels and show the same.
bool is_shown(const std::string& group) {
  return group.empty() || group.find("weight") != std::string::npos;
}

study::Panel panel_of(const std::string& name, const Reading& relu, const Reading& sigmoid) {
  study::Panel panel;
  panel.title = name + ": entries per bin";
  panel.x_label = "gradient entry";
  panel.is_log_y = panel.is_stepped = true;
  panel.lines = {bins_line("ReLU", 0, relu), bins_line("sigmoid", 1, sigmoid)};
  study::fit_limits(panel);
  return panel;
}

ExperimentResult run_vanishing_gradients(const ExperimentOptions& options) {
  const int64_t step = options.quick ? 0 : 100;
  ExperimentResult result(
      {"parameter", "relu_reach", "sigmoid_reach", "relu_outside", "sigmoid_outside"});
  options.on_progress("vanishing_gradients: relu");
  const auto relu_values = train(Nonlinearity::kRelu, step, options, result);
  options.on_progress("vanishing_gradients: sigmoid");
  const auto sigmoid_values = train(Nonlinearity::kSigmoid, step, options, result);

  study::Figure figure;
  figure.title = "Individual gradients of 3c3d with ReLU and with sigmoids";
  Table histograms({"net", "parameter", "low", "high", "count"});
  int64_t parameters = 0, relu_degenerate = 0, sigmoid_degenerate = 0;
  double relu_reach = 0, sigmoid_reach = 0;  // of the whole net
  for (const Reading& relu : relu_values->steps().at(step)) {
    const Reading& sigmoid = *sigmoid_values->find(step, relu.quantity, relu.group);
    const std::string name = relu.group.empty() ? "whole net" : relu.group;
    add_bins(histograms, {"relu", name}, relu);
    add_bins(histograms, {"sigmoid", name}, sigmoid);
    if (is_shown(relu.group)) figure.panels.push_back(panel_of(name, relu, sigmoid));
    result.table.add({name,
                      reach_of(relu),
                      reach_of(sigmoid),
                      share_outside(relu, kCentral),
                      share_outside(sigmoid, kCentral)});
    if (relu.group.empty()) {
      relu_reach = reach_of(relu);
      sigmoid_reach = reach_of(sigmoid);
    } else {
      ++parameters;
      relu_degenerate += is_degenerate(relu);
      sigmoid_degenerate += is_degenerate(sigmoid);
    }
  }
  result.figures.emplace("histograms", std::move(histograms));
  result.pictures.emplace("figure", std::move(figure));
  result.compared = {{"parameters with a degenerate histogram, sigmoids",
                      static_cast<double>(sigmoid_degenerate),
                      "several layers (figure 7.4)"},
                     {"the same with ReLU", static_cast<double>(relu_degenerate), "none"}};

  const bool is_alike = sigmoid_reach > relu_reach / 2 && sigmoid_reach < relu_reach * 2;
  result.holds = is_alike && sigmoid_degenerate >= relu_degenerate + 3;
  const auto of_all = [&](int64_t count) {
    return std::to_string(count) + " of " + std::to_string(parameters);
  };
  result.finding = "over the whole net gradients reach to " + short_number(relu_reach) +
                   " with ReLU and to " + short_number(sigmoid_reach) +
                   " with sigmoids; parameter by parameter, fewer than one entry in 100 000 "
                   "leaves [-0.04, 0.04] in " +
                   of_all(relu_degenerate) + " with ReLU and in " + of_all(sigmoid_degenerate) +
                   " with sigmoids.";
  return result;
}

}  // namespace

Experiment vanishing_gradients() {
  return {"vanishing_gradients",
          "Layer-wise gradient histograms of 3c3d with ReLU against sigmoids",
          "7.3.2",
          &run_vanishing_gradients};
}

}  // namespace flightdeck::run::experiments
