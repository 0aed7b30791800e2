// SPDX-License-Identifier: MIT
// Gradient signal-to-noise ratio, averaged over all parameter entries.
#include "flightdeck/quantity.h"
#include "rows/sweeps.h"

namespace flightdeck::quantities {

// 1/D sum_d g_d² / (variance_d + epsilon), with the biased variance.
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
        std::vector<Tensor> sums;
        for (const ParameterGradients& parameter : step.gradients().parameters) {
          sums.push_back(sum_entries(parameter.mean,
                                     parameter.variance,
                                     [epsilon](const auto& mean, const auto& variance) {
                                       return mean * mean / (variance + epsilon);
                                     }));
        }
        return Value(step.group_sums(sums) / step.group_sizes());
      });
}

}  // namespace flightdeck::quantities
