// SPDX-License-Identifier: MIT
// Distance of the parameters from where they were at the first watched step.
#include "flightdeck/quantity.h"
#include "quantities/sweeps.h"

namespace flightdeck::quantities {

Quantity distance(Settings&) {
  return Quantity("distance")
      .summary("L2 distance of the parameters from their initial values")
      .reference("||theta_k - theta_0||")
      .has_groups(true)
      .compute([](const StepView& step) {
        const auto square = [](const auto& now, const auto& then) {
          return (now - then) * (now - then);
        };
        std::vector<Tensor> squares;
        for (size_t p = 0; p < step.parameters().size(); ++p) {
          squares.push_back(sum_entries(
              step.parameters()[p].tensor.detach(), step.initial_parameters()[p], square));
        }
        return Value(step.group_sums(squares).sqrt());
      });
}

}  // namespace flightdeck::quantities
