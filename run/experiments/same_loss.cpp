// SPDX-License-Identifier: MIT
// Two runs with the same learning curve: one creeps towards the minimum, one leaps over it at every
// step. The loss cannot tell them apart, the distribution of alpha does.
#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/optim/sgd.h>

#include "base/order_statistics.h"
#include "base/shown_number.h"
#include "flightdeck/cockpit.h"
#include "run/watched_training.h"

namespace flightdeck::run::experiments {
namespace {

constexpr double kCreeping = 0.05;

// A run on losses |theta - c_n|² / 2 in the plane. A step of rate r leaves 1 - r of the way to the
// mean of the c_n, so the rates r and 2 - r give the same losses.
struct PlaneRun {
  std::vector<double> losses, alphas, x, y;
};

PlaneRun run_in_plane(const Tensor& centres, double rate, int64_t steps) {
  Tensor theta = torch::tensor({1.5, 1.0}, torch::kDouble).requires_grad_();
  torch::optim::SGD optimizer({theta}, rate);
  CockpitOptions options;
  options.strict = true;
  Cockpit cockpit(std::vector<NamedParameter>{{"theta", theta}},
                  {quantity("loss"), quantity("alpha")},
                  options);
  const auto values = std::make_shared<MemorySink>();
  cockpit.add_sink(values);
  PlaneRun run;
  for (int64_t step = 0; step < steps; ++step) {
    run.x.push_back(theta[0].item<double>());
    run.y.push_back(theta[1].item<double>());
    optimizer.zero_grad();
    const Tensor losses = (theta - centres).square().sum(1) / 2;
    {
      const StepWatch watch = cockpit.watch(step, losses);
      losses.mean().backward();
    }
    optimizer.step();
  }
  run.losses = series(*values, "loss");
  run.alphas = series(*values, "alpha");
  return run;
}

// Draws the share of the alphas in each of 20 bins over [-1.5, 1.5].
study::Line alpha_bins(const std::string& name, size_t place, const std::vector<double>& alphas) {
  constexpr int64_t kBins = 20;
  constexpr double kReach = 1.5;
  std::vector<double> edges, shares(kBins + 1, 0.0);
  for (int64_t bin = 0; bin <= kBins; ++bin) {
    edges.push_back(-kReach + 2 * kReach * static_cast<double>(bin) / kBins);
  }
  for (const double alpha : alphas) {
    const double place_of = (alpha + kReach) / (2 * kReach) * kBins;
    const auto bin = static_cast<int64_t>(std::clamp(place_of, 0.0, kBins - 1.0));
    shares[static_cast<size_t>(bin)] += 1 / static_cast<double>(alphas.size());
  }
  return study::line_of(name, place, edges, shares);
}

ExperimentResult run_same_loss(const ExperimentOptions& options) {
  const int64_t steps = options.quick ? 30 : 100;
  at::manual_seed(options.seed);
  const Tensor centres = 0.1 * torch::randn({128, 2}, torch::kDouble);
  const PlaneRun creeping = run_in_plane(centres, kCreeping, steps);
  const PlaneRun leaping = run_in_plane(centres, 2 - kCreeping, steps);

  ExperimentResult result({"run", "learning_rate", "final_loss", "median_alpha"});
  Table curves({"step",
                "creeping_loss",
                "leaping_loss",
                "creeping_x",
                "creeping_y",
                "leaping_x",
                "leaping_y"});
  std::vector<double> at;
  double apart = 0;
  for (size_t k = 0; k < creeping.losses.size(); ++k) {
    at.push_back(static_cast<double>(k));
    apart = std::max(apart, std::abs(leaping.losses[k] / creeping.losses[k] - 1));
    curves.add({static_cast<int64_t>(k),
                creeping.losses[k],
                leaping.losses[k],
                creeping.x[k],
                creeping.y[k],
                leaping.x[k],
                leaping.y[k]});
  }
  result.figures.emplace("curves", std::move(curves));
  study::Panel loss = panel_over("step", "loss", true),
               plane = panel_over("x", "path in the plane");
  study::Panel alpha = panel_over("alpha", "share of the steps");
  alpha.is_stepped = true;
  size_t place = 0;
  for (const auto& [name, run] :
       {std::pair<const char*, const PlaneRun&>{"creeping", creeping}, {"leaping", leaping}}) {
    result.table.add(
        {name, place == 0 ? kCreeping : 2 - kCreeping, run.losses.back(), median(run.alphas)});
    loss.lines.push_back(study::line_of(name, place, at, run.losses));
    loss.lines.back().look.is_dashed = place == 1;
    plane.lines.push_back(study::line_of(name, place, run.x, run.y));
    plane.lines.back().look.marker = 1;
    alpha.lines.push_back(alpha_bins(name, place, run.alphas));
    ++place;
  }
  result.pictures.emplace("figure",
                          figure_of("The same loss, two ways to get there", {loss, plane, alpha}));
  result.data = {"128 points in the plane, drawn with the seed; all of them at every step"};
  const double below = median(creeping.alphas), above = median(leaping.alphas);
  result.compared = {{"largest relative difference of the losses", apart, "virtually the same"},
                     {"median alpha of the creeping run", below, "below 0 (figure 7.1)"},
                     {"median alpha of the leaping run", above, "above 0 (figure 7.1)"}};
  result.holds = apart < 0.01 && below < -0.5 && above > 0.5;
  result.finding = "the losses of both runs differ by at most " + percent(apart) +
                   ", while the median alpha is " + short_number(below) + " of one and " +
                   short_number(above) + " of the other.";
  return result;
}

}  // namespace

Experiment same_loss() {
  return {"same_loss", "Two runs with the same loss and different alpha", "7.1", &run_same_loss};
}

}  // namespace flightdeck::run::experiments
