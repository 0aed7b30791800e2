// SPDX-License-Identifier: MIT
// Orthogonality test: scatter of the individual gradients across their mean.
#include <algorithm>
#include <limits>

#include "flightdeck/quantity.h"
#include "quantities/group_numbers.h"

namespace flightdeck::quantities {
namespace {

// Returns the relative error of scatter and scatter along the mean, whose difference is taken. Rows
// and sums over a block of their entries are in float32 unless all is in float64.
double rounding_of_sums(const StepView& step) {
  double epsilon = 0;
  for (const ParameterGradients& parameter : step.gradients().parameters) {
    epsilon = std::max(epsilon, parameter.epsilon);
  }
  return 16 * std::min<double>(epsilon, std::numeric_limits<float>::epsilon());
}

// Returns sqrt( 1/(N (N-1)) sum_n (||g_n||²/||g||² - <g_n, g>²/||g||⁴) ): all scatter but that
// along g.
Value ortho_test_value(const StepView& step) {
  const auto N = static_cast<double>(step.batch_size());
  if (N < 2) return Value::none("needs at least two samples");
  const GroupNumbers dots(step.mean_dots()), deviations(step.deviations()),
      mean2(step.squared_mean());
  // Gradients that are all parallel leave nothing, or a little below zero.
  const auto across = [&](int64_t g) {
    return at_least_zero(deviations.sum(g) - dots.squared_deviations(g) / mean2[g]);
  };
  const auto value = [&](int64_t g) { return std::sqrt(across(g) / (N * (N - 1) * mean2[g])); };
  const int64_t groups = mean2.groups();
  const Tensor all_across = for_each_group(groups, across);
  const GroupNumbers left(all_across), share(step.rounding_share(all_across));
  const double rounding = rounding_of_sums(step);
  return Value(for_each_group(groups, value)).with_rounding(for_each_group(groups, [&](int64_t g) {
    // 0 / 0: the rows do not differ at all, and their own rounding says all there is to say.
    const double cancelled = deviations.sum(g) / left[g];
    return share[g] + rounding * (std::isnan(cancelled) ? 0 : cancelled);
  }));
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
