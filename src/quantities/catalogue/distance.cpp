// SPDX-License-Identifier: MIT
// Distance of the parameters from where they were when the cockpit was made.
#include "flightdeck/quantity.h"
#include "quantities/group_sums.h"
#include "rows/sweeps.h"

namespace flightdeck::quantities {

Quantity distance(Settings&) {
  return Quantity("distance")
      .summary("L2 distance of the parameters from their initial values")
      .reference("||theta_k - theta_0||")
      .has_groups(true)
      .reads_parameters(true)
      .compute([](const StepView& step) {
        const at::NoGradGuard no_grad;
        std::vector<Tensor> now;
        for (const NamedParameter& parameter : step.parameters()) now.push_back(parameter.tensor);
        const Tensor squares = squared_distances(now, step.initial_parameters());
        return Value(sum_stacked_by_group(squares, step.groups()).sqrt());
      });
}

}  // namespace flightdeck::quantities
