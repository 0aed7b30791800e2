// SPDX-License-Identifier: MIT
// Gradient signal-to-noise ratio, averaged over all parameter entries.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/signal_to_noise.h"

namespace flightdeck::quantities {

// Makes 1/D sum_d g_d² / (variance_d + epsilon), with the biased variance.
Quantity mean_gsnr(Settings& settings) {
  const double epsilon = settings.number("epsilon", 1e-5, "added to the variance");
  return Quantity("mean_gsnr")
      .summary("Squared mean over variance of the gradient, averaged over all entries")
      .reference("C.3.9, equations C.40 and C.41, with epsilon as in the reference implementation")
      .needs(Need::kMean | Need::kVariance)
      .cost(Cost::kFirstOrder)
      .has_groups(true)
      .compute([epsilon](const StepView& step) {
        if (step.batch_size() < 2) return Value::none("needs at least two samples");
        const SignalToNoise ratios = signal_to_noise(step, /*factor=*/1, epsilon);
        return Value(ratios.sums / step.group_sizes()).with_rounding(ratios.rounding_share);
      });
}

}  // namespace flightdeck::quantities
