// SPDX-License-Identifier: MIT
// Evidence that the mini-batch gradient is noise around zero: above 0, training may stop.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/signal_to_noise.h"

namespace flightdeck::quantities {

// Makes 1 - N/D sum_d g_d² / (S_d + epsilon), with the unbiased variance S = N/(N-1) variance.
Quantity early_stopping(Settings& settings) {
  const double epsilon = settings.number("epsilon", 1e-5, "added to the variance");
  return Quantity("early_stopping")
      .summary("Evidence-based stopping criterion: above 0 the gradient looks like noise")
      .reference("C.3.3, equation C.11, with epsilon as in the reference implementation")
      .needs(Need::kMean | Need::kVariance)
      .cost(Cost::kFirstOrder)
      .has_groups(true)
      .compute([epsilon](const StepView& step) {
        const auto N = static_cast<double>(step.batch_size());
        if (N < 2) return Value::none("needs at least two samples");
        const SignalToNoise ratios = signal_to_noise(step, /*factor=*/N / (N - 1), epsilon);
        const Tensor evidence = N * ratios.sums / step.group_sizes();
        const Tensor value = 1 - evidence;
        return Value(value).with_rounding(ratios.rounding_share * evidence / value.abs());
      });
}

}  // namespace flightdeck::quantities
