// SPDX-License-Identifier: MIT
// Orthogonality test: scatter of the individual gradients across their mean.
#include <algorithm>
#include <limits>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

// Relative error of scatter and scatter along the mean, whose difference is taken: rows and sums
// over a block of their entries are in float32 unless all is in float64.
double rounding_of_sums(const StepView& step) {
  double epsilon = 0;
  for (const ParameterGradients& parameter : step.gradients().parameters) {
    epsilon = std::max(epsilon, parameter.epsilon);
  }
  return 16 * std::min<double>(epsilon, std::numeric_limits<float>::epsilon());
}

// sqrt( 1/(N (N-1)) sum_n (||g_n||²/||g||² - <g_n, g>²/||g||⁴) ): all scatter but that along g.
Value ortho_test_value(const StepView& step) {
  const auto N = static_cast<double>(step.batch_size());
  if (N < 2) return Value::none("needs at least two samples");
  const Tensor dots = step.mean_dots(), mean2 = step.squared_mean();
  const Tensor scatter = step.deviations().sum(1);
  const Tensor along = (dots - dots.mean(1, /*keepdim=*/true)).square().sum(1) / mean2;
  // Of gradients that are all parallel nothing is left, or a little below zero.
  const Tensor across = (scatter - along).clamp_min(0);
  // Where nothing differs at all, the rounding of the rows says so.
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Tensor cancelled = (scatter / across).nan_to_num(0, kInfinity);
  return Value((across / (N * (N - 1) * mean2)).sqrt())
      .with_rounding(step.rounding_share(across) + rounding_of_sums(step) * cancelled);
}

}  // namespace

Quantity ortho_test(Settings&) {
  return Quantity("ortho_test")
      .summary("Scatter of individual gradients across the mean, in units of its norm")
      .reference("C.3.5, orthogonality test, equation C.33; the square root of its left side")
      .needs(Need::kDeviations | Need::kMeanDots)
      .cost(Cost::kFirstOrder)
      .has_groups(true)
      .reads_numbers(true)
      .compute(&ortho_test_value);
}

}  // namespace flightdeck::quantities
