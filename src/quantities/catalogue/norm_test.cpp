// SPDX-License-Identifier: MIT
// Norm test: scatter of the individual gradients around their mean, relative to the mean's length.
// Radius of the disc in the gradient-test instrument; above 1 the step is more noise than signal.
#include "flightdeck/quantity.h"
#include "quantities/group_numbers.h"

namespace flightdeck::quantities {
namespace {

// Returns sqrt( 1/(N (N-1)) sum_n ||g_n - g||² / ||g||² ).
Value norm_test_value(const StepView& step) {
  const auto N = static_cast<double>(step.batch_size());
  if (N < 2) return Value::none("needs at least two samples");
  const GroupNumbers deviations(step.deviations()), mean2(step.squared_mean());
  const auto scatter = [&](int64_t g) { return deviations.sum(g); };
  const auto value = [&](int64_t g) { return std::sqrt(scatter(g) / ((N - 1) * N * mean2[g])); };
  const int64_t groups = mean2.groups();
  return Value(for_each_group(groups, value))
      .with_rounding(step.rounding_share(for_each_group(groups, scatter)));
}

}  // namespace

Quantity norm_test(Settings&) {
  return Quantity("norm_test")
      .summary("Scatter of individual gradients around the mean, in units of its norm")
      .reference("C.3.5, norm test; the square root, as the reference implementation gives it")
      .needs(Need::kDeviations | Need::kMeanDots)
      .cost(Cost::kFirstOrder)
      .has_groups(true)
      .reads_numbers(true)
      .compute(&norm_test_value);
}

}  // namespace flightdeck::quantities
