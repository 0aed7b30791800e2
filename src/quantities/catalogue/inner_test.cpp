// SPDX-License-Identifier: MIT
// Inner product test: scatter of the individual gradients along their mean.
#include "flightdeck/quantity.h"
#include "quantities/group_numbers.h"

namespace flightdeck::quantities {
namespace {

// Returns sqrt( 1/(N (N-1)) sum_n (<g_n, g>/||g||² - 1)² ), with ||g||² = mean_n <g_n, g>, from
// the differences between the products.
Value inner_test_value(const StepView& step) {
  const auto N = static_cast<double>(step.batch_size());
  if (N < 2) return Value::none("needs at least two samples");
  const GroupNumbers dots(step.mean_dots()), mean2(step.squared_mean());
  const auto along = [&](int64_t g) { return dots.squared_deviations(g) / mean2[g]; };
  const auto value = [&](int64_t g) { return std::sqrt(along(g) / (N * (N - 1) * mean2[g])); };
  const int64_t groups = mean2.groups();
  return Value(for_each_group(groups, value))
      .with_rounding(step.rounding_share(for_each_group(groups, along)));
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
