// SPDX-License-Identifier: MIT
// Norm of the gradient of the mini-batch loss, penalties included: what the optimizer sees.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {

Quantity grad_norm(Settings&) {
  return Quantity("grad_norm")
      .summary("L2 norm of the mini-batch gradient")
      .reference("||g_B||; the root of the sum of squares over a group's tensors")
      .needs(Need::kArrivedNorm)
      .has_groups(true)
      .reads_numbers(true)
      .compute([](const StepView& step) {
        const Tensor norms = at::stack(step.gradients(&ParameterGradients::arrived_norm));
        return Value(step.group_sums(norms.to(at::kDouble).square().unbind(0)).sqrt());
      });
}

}  // namespace flightdeck::quantities
