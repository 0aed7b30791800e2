// SPDX-License-Identifier: MIT
// Rows that are matrix products over T positions, G_n = A_nᵀ B_n with A_n [T, I] and B_n [T, J]:
// what linear layers on sequences and convolutions have in common when rows must be formed.
#pragma once

#include <string>

#include "base/shape.h"
#include "rows/sweep.h"

namespace flightdeck {

// Holds the factors as strided memory. I runs over the dimensions of `a` after the samples, T over
// those that follow; patches of a convolution overlap in memory.
struct Instances {
  Tensor a;  // [samples, *I, *T]; columns of samples may share it, row n reads n % samples
  int64_t i_dims = 1;  // how many dimensions make I
  Tensor b;            // [N, T, J]

  int64_t N() const { return b.size(0); }
  int64_t samples() const { return a.size(0); }
  int64_t T() const { return b.size(1); }
  int64_t J() const { return b.size(2); }
  int64_t I() const { return product(i_sizes()); }
  Shape i_sizes() const { return a.sizes().slice(1, i_dims).vec(); }
  // Ranges of i are cut at multiples of it: whole entries of the first of I's dimensions.
  int64_t unit() const { return product(a.sizes().slice(2, i_dims - 1).vec()); }
  RowsSize size() const { return {N(), I() * J(), b.options()}; }
  double flops() const;  // of forming all rows
};

// Returns true if the fused CPU kernel can and does pay for this shape: it vectorises over J.
bool fused_kernel_pays(const at::TensorOptions& options, int64_t J);

// Sweeps over ranges of i, each small enough for the scratch memory; entries are [I, J]. Returns
// what it did, for the coverage report.
std::string sweep_instances(const Instances& instances, int64_t scratch_bytes, Sweep& sweep);

}  // namespace flightdeck
