// SPDX-License-Identifier: MIT
// Orthogonality test: scatter of the individual gradients across their mean.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

// sqrt( 1/(N (N-1)) sum_n (||g_n||²/||g||² - <g_n, g>²/||g||⁴) ), with ||g||² = mean_n <g_n, g>.
Value compute(const StepView& step) {
  const auto N = static_cast<double>(step.batch_size());
  if (N < 2) return Value::none("needs at least two samples");
  const Tensor dots = step.mean_dots();
  const Tensor mean2 = dots.mean(1, /*keepdim=*/true);
  const Tensor across = step.squared_norms() / mean2 - (dots / mean2).square();
  // Rounding may leave gradients that are all parallel a little below zero.
  return Value((across.sum(1) / (N * (N - 1))).clamp_min(0).sqrt());
}

}  // namespace

Quantity ortho_test(Settings&) {
  return Quantity("ortho_test")
      .summary("Scatter of individual gradients across the mean, in units of its norm")
      .reference("C.3.5, orthogonality test, equation C.33; the square root of its left side")
      .needs(Need::kNorms | Need::kMeanDots)
      .cost(Cost::kFirstOrder)
      .has_groups(true)
      .compute(&compute);
}

}  // namespace flightdeck::quantities
