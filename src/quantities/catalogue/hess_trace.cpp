// SPDX-License-Identifier: MIT
// Trace of the Hessian: the sum of all its eigenvalues, exact.
#include "quantities/curvature_choice.h"

namespace flightdeck::quantities {

Quantity hess_trace(Settings& settings) {
  const CurvatureChoice curvature(settings);
  return Quantity("hess_trace")
      .summary("Trace of the Hessian (or GGN) of the mini-batch loss, exact by default")
      .reference("C.3.7; per group the trace of the group's diagonal block")
      .needs(curvature.with_trace({}))
      .cost(Cost::kCurvature)
      .has_groups(true)
      .compute([curvature](const StepView& step) {
        return Value(step.group_sums(curvature.traces(step)));
      });
}

}  // namespace flightdeck::quantities
