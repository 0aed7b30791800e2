// SPDX-License-Identifier: MIT
// Gradients preconditioned by curvature against tuned Momentum and Adam: 2c2d on clothes.
#include "run/preconditioned.h"
#include "suite/nets/conv_2c2d.h"

namespace flightdeck::run::experiments {
namespace {

ExperimentResult run_preconditioned_2c2d(const ExperimentOptions& options) {
  PublishedSettings published;
  published.diag_ggn = published.diag_ggn_mc = {1e-4, 1e-4};
  published.kfac = {1e-3, 1e-3};
  published.kflr = {1e-2, 1e-3};
  published.momentum_rate = 2.07e-2;
  published.adam_rate = 1.27e-4;
  published.claim = "about 1 or below (figure B.3b, 100 epochs, no number in the text)";
  Contest contest;
  contest.experiment = "preconditioned_2c2d";
  contest.training = first_with_data({"fmnist_2c2d", "mnist_2c2d"}, options);
  contest.problem = suite::find_problem(contest.training.problem);
  contest.steps = options.quick ? 40 : 1000;
  contest.interval = options.quick ? 10 : 100;
  contest.seeds = options.quick ? 1 : 3;
  if (!options.quick) return preconditioned_result(std::move(contest), published, options);
  contest.problem.name = "small " + contest.problem.name;
  contest.problem.build = [] { return suite::nets::conv_2c2d(16); };
  contest.training.data.limit = 1000;
  return preconditioned_result(
      std::move(contest), published, options, "a net of a sixteenth of the widths, 1000 samples");
}

}  // namespace

Experiment preconditioned_2c2d() {
  return {"preconditioned_2c2d",
          "Curvature-preconditioned gradients against Momentum and Adam on 2c2d",
          "B.3 (003)",
          &run_preconditioned_2c2d,
          {Size::kSteps, Size::kSeeds, Size::kSamples},
          "100 epochs, ten seeds"};
}

}  // namespace flightdeck::run::experiments
