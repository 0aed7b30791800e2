// SPDX-License-Identifier: MIT
// Mean pairwise cosine: how far the samples of a batch pull in one direction.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

// Returns the mean over n != m of <g_n, g_m> / (||g_n|| ||g_m||). Samples without a gradient have
// no direction and are left out. The norms belong to a whole group and are known only after all of
// its parameters: the sum of normalised rows would take a second pass, the Gram matrix takes none.
Value grad_cosine_value(const StepView& step) {
  if (step.batch_size() < 2) return Value::none("needs at least two samples");
  const Tensor gram = step.group_sums(step.gradients(&ParameterGradients::gram));  // [G, N, N]
  const Tensor squares = gram.diagonal(0, 1, 2);
  const Tensor has_direction = squares != 0;
  const Tensor inverse = at::where(has_direction, squares.rsqrt(), at::zeros_like(squares));
  const Tensor sums =
      (gram * inverse.unsqueeze(1) * inverse.unsqueeze(2)).sum(at::IntArrayRef({1, 2}));
  const Tensor count = has_direction.sum(1).to(at::kDouble);
  return Value((sums - count) / (count * (count - 1)));
}

}  // namespace

Quantity grad_cosine(Settings&) {
  return Quantity("grad_cosine")
      .summary("Mean cosine between the gradients of two samples")
      .reference("mean over pairs n != m; beyond the papers")
      .needs(Need::kGram)
      .cost(Cost::kFirstOrder)
      .has_groups(true)
      .compute(&grad_cosine_value);
}

}  // namespace flightdeck::quantities
