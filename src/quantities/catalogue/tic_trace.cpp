// SPDX-License-Identifier: MIT
// Takeuchi's information criterion with the traces of noise and curvature.
#include <ATen/ATen.h>

#include "quantities/curvature_choice.h"

namespace flightdeck::quantities {

// Makes (1/N) sum_n ||g_n||² / (trace + epsilon).
Quantity tic_trace(Settings& settings) {
  const CurvatureChoice curvature(settings);
  const double epsilon = settings.number("epsilon", 1e-7, "added to the curvature's trace");
  StepNeeds needs;
  needs.gradients = Need::kNorms;
  return Quantity("tic_trace")
      .summary("Takeuchi criterion from traces: mean squared gradient norm over the trace")
      .reference("C.3.8, equation C.37, with epsilon as in the reference implementation")
      .needs(curvature.with_trace(needs))
      .cost(Cost::kCurvature)
      .has_groups(true)
      .compute([curvature, epsilon](const StepView& step) {
        const Tensor traces = step.group_sums(curvature.traces(step));
        return Value(step.squared_norms().mean(1) / (traces + epsilon));
      });
}

}  // namespace flightdeck::quantities
