// SPDX-License-Identifier: MIT
// How rows a_n b_nᵀ scatter around their mean, from their factors a [N, I] and b [N, J]. Nothing is
// lost where the rows nearly agree (docs/decisions/0029-scatter-from-differences.md).
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace flightdeck {

using at::Tensor;

struct Scatter {
  Tensor deviations;  // [N] double: ||g_n - g||²
  Tensor dots;        // [N] double: <g_n, g>
};
Scatter scatter_of_products(const Tensor& a, const Tensor& b);

struct Moments {
  Tensor sum, variance;  // [I, J], times the share
};
Moments moments_of_products(const Tensor& a, const Tensor& b, double share, int64_t scratch_bytes);

}  // namespace flightdeck
