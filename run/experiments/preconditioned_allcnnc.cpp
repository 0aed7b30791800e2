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
  return preconditioned_on_images(
      std::move(contest), published, options, 30, "a 24th of the widths");
}

}  // namespace

Experiment preconditioned_allcnnc() {
  return {"preconditioned_allcnnc",
          "Sampled curvature against Momentum and Adam on All-CNN-C",
          "5.4 (003)",
          &run_preconditioned_allcnnc,
          {Size::kSteps, Size::kSeeds, Size::kSamples},
          "350 epochs, ten seeds"};
}

}  // namespace flightdeck::run::experiments
