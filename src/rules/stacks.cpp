// SPDX-License-Identifier: MIT
#include "rules/stacks.h"

#include <ATen/ATen.h>

namespace flightdeck {

Shape with_lead(int64_t K, const Shape& shape) {
  Shape sizes{K};
  sizes.insert(sizes.end(), shape.begin(), shape.end());
  return sizes;
}

Tensor align_stack(const Tensor& stack, size_t rank) {
  Shape sizes = stack.sizes().vec();
  if (sizes.size() < rank + 1) sizes.insert(sizes.begin() + 1, rank + 1 - sizes.size(), 1);
  return stack.reshape(sizes);
}

Tensor sum_stack_to(const Tensor& stack, const Shape& input) {
  const int64_t extra = stack.dim() - 1 - static_cast<int64_t>(input.size());
  Shape dims;
  for (int64_t d = 1; d < stack.dim(); ++d) {
    const bool is_broadcast = d <= extra || input[d - 1 - extra] != stack.size(d);
    if (is_broadcast) dims.push_back(d);
  }
  if (dims.empty()) return stack;
  return stack.sum(dims).reshape(with_lead(stack.size(0), input));
}

Tensor align_channels(const Tensor& stack, size_t rank) {
  Shape sizes(rank + 1, 1);
  sizes[0] = stack.size(0);
  sizes[2] = stack.size(1);
  return stack.reshape(sizes);
}

Tensor sum_to_channels(const Tensor& stack) {
  Shape dims{1};
  for (int64_t d = 3; d < stack.dim(); ++d) dims.push_back(d);
  return stack.sum(dims);
}

Tensor multiply_each(const Tensor& left, const Tensor& right) {
  if (!left.is_cpu()) return at::matmul(left, right);
  const int64_t K = left.dim() == 3 ? left.size(0) : right.size(0);
  const auto column = [](const Tensor& side, int64_t k) {
    return side.dim() == 3 ? side.select(0, k) : side;
  };
  Tensor result = at::empty({K, left.size(-2), right.size(-1)}, left.options());
  for (int64_t k = 0; k < K; ++k) {
    Tensor slot = result.select(0, k);
    at::mm_out(slot, column(left, k), column(right, k));
  }
  return result;
}

Tensor fold(const Tensor& stack) { return stack.flatten(0, 1); }

Tensor unfold(const Tensor& folded, int64_t K) {
  Shape sizes{K, folded.size(0) / K};
  const auto rest = folded.sizes().slice(1);
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return folded.view(sizes);
}

}  // namespace flightdeck
