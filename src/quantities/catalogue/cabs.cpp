// SPDX-License-Identifier: MIT
// CABS criterion: the batch size that fits learning rate and gradient noise.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/group_sums.h"
#include "quantities/rounding_noise.h"
#include "rows/rounding.h"

namespace flightdeck::quantities {
namespace {

// Returns sum_p rate_p tr(variance_p) / loss. The trace needs no entries: it is
// mean_n ||g_n - g||².
Value cabs_value(const StepView& step) {
  const int64_t N = step.batch_size();
  const Tensor scatter = at::stack(step.gradients(&ParameterGradients::deviations)).sum(1);  // [P]
  const Tensor lengths = squared_means(step);
  const Tensor errors = rounding_error(scatter, lengths, rounding_noise(step, lengths), N);
  const Tensor rates = at::tensor(step.learning_rates(), at::kDouble).to(scatter.device());
  const Tensor weighted = sum_stacked_by_group(rates * scatter, step.groups());
  const Tensor weighted_errors = sum_stacked_by_group(rates * errors, step.groups());
  return Value(weighted / (double(N) * step.loss().to(at::kDouble)))
      .with_rounding(weighted_errors / weighted);
}

}  // namespace

Quantity cabs(Settings&) {
  return Quantity("cabs")
      .summary("Batch size that CABS suggests: learning rate times noise over loss")
      .reference("C.3.2, equation C.6; with several learning rates each counts its own parameters")
      .needs(Need::kDeviations | Need::kMeanDots)
      .cost(Cost::kFirstOrder)
      .has_groups(true)
      .reads_numbers(true)
      .compute(&cabs_value);
}

}  // namespace flightdeck::quantities
