// SPDX-License-Identifier: MIT
// Simple noise scale: the batch size at which noise and signal of the mean gradient are equal.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

// Returns tr(S) / |G|² with the unbiased estimates tr(S) = sum_n ||g_n - g||² / (N-1) and
// |G|² = ||g||² - tr(S) / N, which may come out negative.
Value grad_noise_scale_value(const StepView& step) {
  const auto N = static_cast<double>(step.batch_size());
  if (N < 2) return Value::none("needs at least two samples");
  const Tensor scatter = step.deviations().sum(1);
  const Tensor noise = scatter / (N - 1);
  const Tensor signal = step.squared_mean() - noise / N;
  return Value(noise / signal)
      .with("noise", noise)
      .with("signal", signal)
      .with_rounding(step.rounding_share(scatter));
}

}  // namespace

Quantity grad_noise_scale(Settings&) {
  return Quantity("grad_noise_scale")
      .summary("Batch size at which noise and signal of the mean gradient balance")
      .reference("McCandlish et al. 2018, simple noise scale, unbiased from one batch")
      .needs(Need::kDeviations | Need::kMeanDots)
      .cost(Cost::kFirstOrder)
      .has_groups(true)
      .reads_numbers(true)
      .compute(&grad_noise_scale_value);
}

}  // namespace flightdeck::quantities
