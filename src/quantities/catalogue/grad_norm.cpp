// SPDX-License-Identifier: MIT
// Norm of the gradient of the mini-batch loss, penalties included: what the optimizer sees.
#include <algorithm>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/group_sums.h"

namespace flightdeck::quantities {
namespace {

// Returns the squares of numbers [], [P] in double.
Tensor squares_of(const std::vector<Tensor>& numbers) {
  const bool is_here = std::all_of(numbers.begin(), numbers.end(), [](const Tensor& one) {
    return one.is_cpu() && one.scalar_type() == at::kDouble;
  });
  if (!is_here) return at::stack(numbers).to(at::kDouble).square();
  const Tensor squares = at::empty({static_cast<int64_t>(numbers.size())}, at::kDouble);
  auto* next = squares.data_ptr<double>();
  for (const Tensor& one : numbers) {
    const double norm = *one.data_ptr<double>();
    *next++ = norm * norm;
  }
  return squares;
}

}  // namespace

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
