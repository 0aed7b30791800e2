// SPDX-License-Identifier: MIT
// Gradients preconditioned by curvature against tuned Momentum and Adam, with the hyperparameters
// that were published for a problem.
#pragma once

#include <string>

#include "run/learning_curves.h"

namespace flightdeck::run {

// Rate and damping of an optimizer; a rate of 0 means that it was not run there.
struct RateAndDamping {
  double rate = 0, damping = 0;
};

// A column of table B.2.
struct PublishedSettings {
  RateAndDamping diag_ggn, diag_ggn_mc, kfac, kflr, kfra;
  double momentum_rate = 0, adam_rate = 0;
  std::string claim;  // about the Kronecker-factored methods, or the best that was run
};

std::vector<Competitor> preconditioned_competitors(const PublishedSettings& published);

// Trains all of them and asks whether the best method with Kronecker factors competes with the
// better baseline in training loss at the same step. `contest` has its competitors set here.
ExperimentResult preconditioned_result(Contest contest,
                                       const PublishedSettings& published,
                                       const ExperimentOptions& options,
                                       const std::string& remark = "");

// The same of a net on images, at full length or, where options are quick, so many steps of 64 of
// 500 samples; `widths` says how wide the small net of `contest.problem` is.
ExperimentResult preconditioned_on_images(Contest contest,
                                          const PublishedSettings& published,
                                          const ExperimentOptions& options,
                                          int64_t quick_steps,
                                          const std::string& widths);

}  // namespace flightdeck::run
