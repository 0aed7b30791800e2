// SPDX-License-Identifier: MIT
// Gradients preconditioned by curvature against tuned Momentum and Adam: 3c3d.
#include "run/preconditioned.h"
#include "suite/nets/conv_3c3d.h"

namespace flightdeck::run::experiments {
namespace {

ExperimentResult run_preconditioned_3c3d(const ExperimentOptions& options) {
  PublishedSettings published;
  published.diag_ggn = published.diag_ggn_mc = {1e-3, 1e-2};
  published.kfac = published.kflr = {1, 10};
  published.momentum_rate = 3.79e-3;
  published.adam_rate = 2.98e-4;
  published.claim = "below 1: they beat the baselines per step (figure 5.6a, CIFAR-10, 100 epochs)";
  Contest contest;
  contest.experiment = "preconditioned_3c3d";
  contest.problem = on_images_here("cifar10_3c3d", options, [&options](int64_t classes) {
    return suite::nets::conv_3c3d(
        classes, suite::nets::Nonlinearity::kRelu, options.quick ? 16 : 1);
  });
  return preconditioned_on_images(
      std::move(contest), published, options, 40, "a sixteenth of the widths");
}

}  // namespace

Experiment preconditioned_3c3d() {
  return {"preconditioned_3c3d",
          "Curvature-preconditioned gradients against Momentum and Adam on 3c3d",
          "5.4 (003)",
          &run_preconditioned_3c3d,
          {Size::kSteps, Size::kSeeds, Size::kSamples},
          "100 epochs, ten seeds"};
}

}  // namespace flightdeck::run::experiments
