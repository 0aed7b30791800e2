// SPDX-License-Identifier: MIT
// Distance of the parameters from where they were when the cockpit was made.
#include "flightdeck/quantity.h"
#include "rows/sweeps.h"

namespace flightdeck::quantities {

Quantity distance(Settings&) {
  return Quantity("distance")
      .summary("L2 distance of the parameters from their initial values")
      .reference("||theta_k - theta_0||")
      .has_groups(true)
      .compute([](const StepView& step) {
        std::vector<Tensor> now;
        for (const NamedParameter& parameter : step.parameters()) {
          now.push_back(parameter.tensor.detach());
        }
        const std::vector<Tensor> squares = squared_distances(now, step.initial_parameters());
        return Value(step.group_sums(squares).sqrt());
      });
}

}  // namespace flightdeck::quantities
