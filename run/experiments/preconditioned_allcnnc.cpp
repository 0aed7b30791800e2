// SPDX-License-Identifier: MIT
// Gradients preconditioned by sampled curvature against tuned Momentum and Adam: All-CNN-C.
#include "run/preconditioned.h"
#include "suite/nets/allcnnc.h"

namespace flightdeck::run::experiments {
namespace {

// Exact curvature of a hundred classes was not run there for its memory, so it is not here.
ExperimentResult run_preconditioned_allcnnc(const ExperimentOptions& options) {
  PublishedSettings published;
  published.diag_ggn_mc = {1e-3, 1e-3};
  published.kfac = {1, 1};
  published.momentum_rate = 4.83e-1;
  published.adam_rate = 6.95e-4;
  published.claim = "about 1 or below: it competes per step (figure 5.6b, CIFAR-100, 350 epochs)";
  Contest contest;
  contest.experiment = "preconditioned_allcnnc";
  contest.problem = on_images_here("cifar100_allcnnc", options, [&options](int64_t classes) {
    return suite::nets::allcnnc(classes, options.quick ? 24 : 1);
  });
  if (options.quick) contest.problem.name = "small " + contest.problem.name;
  contest.training = options_for(contest.problem, options);
  contest.steps = options.quick ? 30 : 1000;
  contest.interval = options.quick ? 10 : 100;
  contest.seeds = options.quick ? 1 : 3;
  if (!options.quick) return preconditioned_result(std::move(contest), published, options);
  contest.training.data.limit = 500;
  contest.training.batch_size = 64;
  return preconditioned_result(std::move(contest),
                               published,
                               options,
                               "a net of a 24th of the widths, batches of 64, 500 samples");
}

}  // namespace

Experiment preconditioned_allcnnc() {
  return {"preconditioned_allcnnc",
          "Sampled curvature against Momentum and Adam on All-CNN-C",
          "5.4 (003)",
          &run_preconditioned_allcnnc,
          {Size::kSteps, Size::kSeeds, Size::kSamples}};
}

}  // namespace flightdeck::run::experiments
