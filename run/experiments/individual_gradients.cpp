// SPDX-License-Identifier: MIT
// Individual gradients by one backward pass against a loop over samples, for growing batches.
#include <ATen/ATen.h>
#include <torch/autograd.h>
#include <torch/nn/module.h>

#include "base/shown_number.h"
#include "flightdeck/gradients.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

struct GradientTimes {
  double gradient, vectorised, loop;
};

GradientTimes time_gradients(const suite::Problem& problem,
                             const suite::Model& model,
                             int64_t N,
                             int64_t rounds) {
  const suite::Batch batch = problem.random_batch(N);
  const std::vector<Tensor> parameters = model.module->parameters();
  const auto named = model.module->named_parameters();
  const auto losses_from = [&](int64_t first, int64_t count) {
    return problem.losses(model.forward(batch.inputs.slice(0, first, first + count)),
                          batch.targets.slice(0, first, first + count));
  };
  GradientTimes times{};
  times.gradient = shortest_seconds(
      rounds, [&] { torch::autograd::grad({losses_from(0, N).mean()}, parameters); });
  times.vectorised = shortest_seconds(rounds, [&] {
    const Gradients all = gradients(losses_from(0, N), named, Need::kMean | Need::kIndividual);
    TORCH_CHECK(all.batch_size == N);
  });
  times.loop = shortest_seconds(rounds, [&] {
    for (int64_t n = 0; n < N; ++n) {
      torch::autograd::grad({losses_from(n, 1).mean()}, parameters);
    }
  });
  return times;
}

ExperimentResult run_individual_gradients(const ExperimentOptions& options) {
  const std::string name = "cifar10_3c3d";
  const suite::Problem& problem = suite::find_problem(name);
  at::manual_seed(options.seed);
  const suite::Model model = problem.build();
  ExperimentResult result({"samples", "gradient_ms", "vectorised_ms", "loop_ms"});
  std::vector<double> samples, gradient, vectorised, loop;
  GradientTimes last{};
  for (int64_t N = 1; N <= (options.quick ? 16 : 128); N *= 2) {
    options.on_progress("individual_gradients: " + std::to_string(N) + " samples");
    last = time_gradients(problem, model, N, options.quick ? 2 : 5);
    samples.push_back(static_cast<double>(N));
    gradient.push_back(1e3 * last.gradient);
    vectorised.push_back(1e3 * last.vectorised);
    loop.push_back(1e3 * last.loop);
    result.table.add({N, gradient.back(), vectorised.back(), loop.back()});
  }
  result.figures.emplace("times", result.table);
  study::Panel panel = panel_over("samples in the batch", "milliseconds", true);
  panel.is_log_x = true;
  panel.lines = {study::line_of("gradient alone", 7, samples, gradient),
                 study::line_of("individual gradients, one pass", 0, samples, vectorised),
                 study::line_of("individual gradients, loop", 1, samples, loop)};
  result.pictures.emplace("figure", figure_of("Individual gradients of 3c3d", {panel}));
  result.data = {
      "cifar10_3c3d: random images of the right shape; the time does not depend on them"};

  const double gain = last.loop / last.vectorised;
  result.compared = {{"time of the loop over that of one pass, largest batch",
                      gain,
                      "far above 1 (figure 5.2, no number in the text)"},
                     {"time of one pass over that of the gradient alone, largest batch",
                      last.vectorised / last.gradient,
                      "a small factor (figure 5.2)"}};
  result.holds = gain > 1 && loop.back() / loop.front() > vectorised.back() / vectorised.front();
  result.finding = "with " + short_number(samples.back()) + " samples the loop takes " +
                   short_number(gain) + " times as long as one pass, and one pass " +
                   short_number(last.vectorised / last.gradient) +
                   " times as long as the gradient alone.";
  return result;
}

}  // namespace

Experiment individual_gradients() {
  return {"individual_gradients",
          "Time of individual gradients by one pass against a loop, over the batch size",
          "5.2",
          &run_individual_gradients};
}

}  // namespace flightdeck::run::experiments
