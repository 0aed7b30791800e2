// SPDX-License-Identifier: MIT
// Small moves on stacks [K, ...] of tensors that an op treats alike.
#pragma once

#include "base/shape.h"
#include "graph/layout.h"

namespace flightdeck {

// Returns [K, *shape].
Shape with_lead(int64_t K, const Shape& shape);

// Reshapes [K, *shape] of an operand broadcast to rank `rank`: [K, 1, ..., *shape].
Tensor align_stack(const Tensor& stack, size_t rank);

// Sums [K, *output shape] to an operand of shape `input` that was broadcast to it.
Tensor sum_stack_to(const Tensor& stack, const Shape& input);

// Do the same for channels, which sit in dimension 1 of [N, C, ...]: [K, C] -> [K, 1, C, 1, ...]
// for outputs of rank `rank`, and [K, N, C, ...] -> [K, C].
Tensor align_channels(const Tensor& stack, size_t rank);
Tensor sum_to_channels(const Tensor& stack);

// Multiplies the matrices of each column, where one side may be a single matrix that all share. On
// the CPU one product follows the other: LibTorch's batched ones reach a fraction of the speed
// there.
Tensor multiply_each(const Tensor& left, const Tensor& right);

// Reshape [K, N, ...] to [K * N, ...] and back.
Tensor fold(const Tensor& stack);
Tensor unfold(const Tensor& folded, int64_t K);

}  // namespace flightdeck
