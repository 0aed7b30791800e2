// SPDX-License-Identifier: MIT
// Rows that are matrix products over T positions, G_n = A_nᵀ B_n with A_n [T, I] and B_n [T, J]:
// what linear layers on sequences and convolutions have in common when rows must be formed.
#pragma once

#include <functional>

#include "kernels/patch_products/patch_products.h"
#include "rows/form.h"

namespace flightdeck {

/// A source of G_n, a range of i at a time. I = units * unit; ranges are cut at whole units.
struct Instances {
  int64_t N = 0, T = 0, I = 0, J = 0;
  int64_t unit = 1;
  int64_t samples = 0;  ///< distinct A_n; fewer than N where columns share them

  /// G[:, begin:end, :] as a new tensor [N, end - begin, J]; begin and end are multiples of unit.
  std::function<Tensor(int64_t begin, int64_t end)> rows;

  /// The same for K columns that share A, without copying A: [N / K, end - begin, K * J] with the
  /// columns side by side. Optional.
  std::function<Tensor(int64_t begin, int64_t end)> rows_side_by_side;

  /// On the CPU: describes range begin..end of the work to the fused kernel (inputs only).
  std::function<void(int64_t begin, kernels::PatchProducts<float>&)> describe_float;
  std::function<void(int64_t begin, kernels::PatchProducts<double>&)> describe_double;

  at::TensorOptions options;
};

/// True if the fused CPU kernel can and does pay for this shape: it vectorises over J.
bool fused_kernel_pays(const at::TensorOptions& options, int64_t J);

/// Runs the fused kernel on i in [begin, end); results that are undefined are not computed.
/// sum and second: [I, J] of which rows begin..end are written; squared_norms: [N] double, added
/// to; rows: [N, end - begin, J].
void run_fused(const Instances& instances,
               int64_t begin,
               int64_t end,
               Tensor sum,
               Tensor second,
               Tensor squared_norms,
               Tensor rows);

/// Everything (rows as [I, J] matrices; value bins and directions too) in one sweep over ranges of
/// i, each small enough for the scratch budget. Only what is asked for is kept. Dots are answered
/// only along with pairwise products, products with the mean or counts, which look at the rows.
Answers answer_by_instances(const Instances& instances, const Questions& questions);

/// Flops of the sweep that forms all rows.
double instance_flops(const Instances& instances);

}  // namespace flightdeck
