// SPDX-License-Identifier: MIT
// The whole cockpit on one training with a cyclic learning rate, at logarithmic steps: what the
// early phase, where the loss stands still, does to the curvature.
#include <cmath>

#include "base/shown_number.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

// Divides the last by the first of the values up to this step.
double early_factor(const MemorySink& values, const std::string& quantity, int64_t until) {
  std::vector<double> early;
  for (const auto& [step, readings] : values.steps()) {
    const Reading* reading = values.find(step, quantity);
    if (step <= until && reading != nullptr && std::isfinite(reading->number)) {
      early.push_back(reading->number);
    }
  }
  return early.back() / early.front();
}

// Makes a panel over logarithmic steps for each quantity; all values go into the table.
std::vector<study::Panel> panels_of(const MemorySink& values, Table& all) {
  std::vector<study::Panel> panels;
  for (const char* name : {"alpha",
                           "norm_test",
                           "hess_max_ev",
                           "distance",
                           "inner_test",
                           "hess_trace",
                           "update_size",
                           "ortho_test",
                           "tic_diag",
                           "grad_norm",
                           "mean_gsnr",
                           "loss"}) {
    std::vector<double> steps, numbers;
    bool is_positive = true;
    for (const auto& [step, readings] : values.steps()) {
      const Reading* reading = values.find(step, name);
      if (reading == nullptr) continue;
      steps.push_back(static_cast<double>(step + 1));
      numbers.push_back(reading->number);
      is_positive = is_positive && !(reading->number <= 0);
      all.add({step, name, reading->number});
    }
    panels.push_back(panel_over("step + 1", name, is_positive));
    panels.back().is_log_x = true;
    panels.back().lines = {study::line_of("", 0, steps, numbers)};
  }
  return panels;
}

void judge(const MemorySink& values, int64_t early, ExperimentResult& result) {
  const double loss = early_factor(values, "loss", early);
  const double curvature = early_factor(values, "hess_max_ev", early);
  result.compared = {{"loss at step " + std::to_string(early) + " over that at the start",
                      loss,
                      "about 1: a plateau (7.4, All-CNN-C on CIFAR-100)"},
                     {"largest Hessian eigenvalue at that step over that at the start",
                      curvature,
                      "clearly below 1: a downward trend"}};
  result.holds = loss > 0.9 && curvature < 0.9;
  result.finding = "within the first " + std::to_string(early) + " steps the loss goes to " +
                   percent(loss) + " of its start and the largest eigenvalue of the Hessian to " +
                   percent(curvature) +
                   " (published, on another network and data: the loss stands "
                   "still and the eigenvalue falls).";
}

ExperimentResult run_showcase(const ExperimentOptions& options) {
  TrainingOptions chosen = options.quick
                               ? first_with_data({"mnist_mlp", "fmnist_mlp"}, options)
                               : first_with_data({"cifar100_allcnnc", "fmnist_2c2d"}, options);
  chosen.schedule = "cyclic:1";
  chosen.hyperparameters["learning_rate"] = 0.01;
  chosen.steps = options.steps_or(options.quick ? 25 : 1500);
  if (options.quick) chosen.batch_size = 32;
  const int64_t early = options.quick ? 10 : 100;
  Training training(chosen);
  ExperimentResult result({"step", "loss", "grad_norm", "hess_max_ev", "hess_trace"});
  name_data(training, result);
  const DueSteps due = DueSteps::logarithmic(0, std::log10(static_cast<double>(chosen.steps)));
  // Would-be gradients cost the same with ten classes and with a hundred.
  std::vector<Quantity> quantities = {quantity("hess_trace", {{"curvature", "ggn_mc"}}).on(due),
                                      quantity("tic_diag", {{"curvature", "ggn_mc"}}).on(due)};
  for (const char* name : {"loss",
                           "learning_rate",
                           "alpha",
                           "distance",
                           "update_size",
                           "grad_norm",
                           "norm_test",
                           "inner_test",
                           "ortho_test",
                           "mean_gsnr",
                           "hess_max_ev"}) {
    quantities.push_back(quantity(name).on(due));
  }
  options.on_progress("showcase: " + chosen.problem);
  const auto values = watched(training, std::move(quantities));

  Table all({"step", "quantity", "value"});
  std::vector<study::Panel> panels = panels_of(*values, all);
  int64_t place = 0;
  for (const auto& [step, readings] : values->steps()) {
    if (values->find(step, "hess_max_ev") == nullptr || place++ % 8 != 0) continue;
    result.table.add({step,
                      values->number(step, "loss"),
                      values->number(step, "grad_norm"),
                      values->number(step, "hess_max_ev"),
                      values->number(step, "hess_trace")});
  }
  result.figures.emplace("values", std::move(all));
  result.pictures.emplace(
      "figure",
      figure_of(chosen.problem + " with a cyclic learning rate: step size, gradients, "
                                 "curvature",
                std::move(panels)));
  judge(*values, early, result);
  return result;
}

}  // namespace

Experiment showcase() {
  return {"showcase",
          "The full cockpit at logarithmic steps under a cyclic learning rate",
          "7.4",
          &run_showcase,
          {Size::kSteps, Size::kSamples}};
}

}  // namespace flightdeck::run::experiments
