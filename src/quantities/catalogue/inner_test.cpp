// SPDX-License-Identifier: MIT
// Inner product test: scatter of the individual gradients along their mean.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

// sqrt( 1/(N (N-1)) sum_n (<g_n, g>/||g||² - 1)² ), with ||g||² = mean_n <g_n, g>: from the
// differences between the products.
Value inner_test_value(const StepView& step) {
  const auto N = static_cast<double>(step.batch_size());
  if (N < 2) return Value::none("needs at least two samples");
  const Tensor dots = step.mean_dots(), mean2 = step.squared_mean();
  const Tensor along = (dots - dots.mean(1, /*keepdim=*/true)).square().sum(1) / mean2;
  return Value((along / (N * (N - 1) * mean2)).sqrt()).with_rounding(step.rounding_share(along));
}

}  // namespace

Quantity inner_test(Settings&) {
  return Quantity("inner_test")
      .summary("Scatter of individual gradients along the mean, in units of its norm")
      .reference("C.3.5, inner product test, equation C.26; the square root of its left side")
      .needs(Need::kMeanDots)
      .cost(Cost::kFirstOrder)
      .has_groups(true)
      .reads_numbers(true)
      .compute(&inner_test_value);
}

}  // namespace flightdeck::quantities
