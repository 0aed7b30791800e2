// SPDX-License-Identifier: MIT
// Norm of the gradient of the mini-batch loss, penalties included: what the optimizer sees.
#include <vector>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/group_sums.h"

namespace flightdeck::quantities {

Quantity grad_norm(Settings&) {
  return Quantity("grad_norm")
      .summary("L2 norm of the mini-batch gradient")
      .reference("||g_B||; the root of the sum of squares over a group's tensors")
      .needs(Need::kArrivedNorm)
      .has_groups(true)
      .reads_numbers(true)
      .compute([](const StepView& step) {
        const std::vector<Tensor> norms = step.gradients(&ParameterGradients::arrived_norm);
        return Value(sum_stacked_by_group(squares_of(norms), step.groups()).sqrt());
      });
}

}  // namespace flightdeck::quantities
