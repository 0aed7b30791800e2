// SPDX-License-Identifier: MIT
// Gradients preconditioned by curvature against tuned Momentum and Adam: logistic regression.
#include "run/preconditioned.h"

namespace flightdeck::run::experiments {
namespace {

ExperimentResult run_preconditioned_training(const ExperimentOptions& options) {
  PublishedSettings published;
  published.diag_ggn = published.diag_ggn_mc = {1e-3, 1e-3};
  published.kfac = published.kflr = published.kfra = {1e-2, 1e-2};
  published.momentum_rate = 2.07e-2;
  published.adam_rate = 2.98e-4;
  published.claim = "about 1 or below: they compete in progress per step (figure B.3a, 50 epochs)";
  Contest contest;
  contest.experiment = "preconditioned_training";
  contest.training = first_with_data({"mnist_logreg", "fmnist_logreg"}, options);
  contest.problem = suite::find_problem(contest.training.problem);
  contest.steps = options.quick ? 60 : 2000;
  contest.interval = options.quick ? 20 : 100;
  contest.seeds = options.quick ? 1 : 3;
  return preconditioned_result(std::move(contest), published, options);
}

}  // namespace

Experiment preconditioned_training() {
  return {"preconditioned_training",
          "Curvature-preconditioned gradients against Momentum and Adam",
          "5.4 (003), B.3",
          &run_preconditioned_training,
          {Size::kSteps, Size::kSeeds, Size::kSamples},
          "50 epochs, ten seeds"};
}

}  // namespace flightdeck::run::experiments
