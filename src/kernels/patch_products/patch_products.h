// SPDX-License-Identifier: MIT
// Per-sample products of patches and output gradients, consumed in registers:
//   G_n[i][j] = sum_t a_n[base[i] + step[t]] * b_n[t][j]
// is the individual weight gradient of a convolution (base: channel and kernel position, step:
// output position) or of a linear layer applied at T positions. Sums, squares and norms of the G_n
// are accumulated as each tile is finished, so the N x I x J array is written only on request.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/parallel_for.h"

namespace flightdeck::kernels {

template <typename Scalar>
struct PatchProducts {
  int64_t N = 0, T = 0, I = 0, J = 0;

  const Scalar* a = nullptr;
  int64_t a_sample = 0;           // elements between samples of a
  int64_t a_period = 0;           // sample n reads a of n % a_period; 0: a has N samples
  const int64_t* base = nullptr;  // [I] element offsets
  const int64_t* step = nullptr;  // [T] element offsets

  const Scalar* b = nullptr;
  int64_t b_sample = 0, b_t = 0, b_j = 0;  // element strides of b

  // Results are overwritten; null means that one is not asked for.
  Scalar* sum = nullptr;            // [I, J] sum_n G_n
  Scalar* second = nullptr;         // [I, J] sum_n G_n²
  double* squared_norms = nullptr;  // [N] sum_ij G_n[i][j]²
  Scalar* rows = nullptr;           // G_n[i][j] at rows[n * rows_sample + i * J + j]
  int64_t rows_sample = 0;

  const Scalar* a_of(int64_t n) const { return a + (a_period > 0 ? n % a_period : n) * a_sample; }
};

// `threads` guides how finely the work is cut; the results do not depend on it beyond rounding.
void patch_products(const PatchProducts<float>& work, const ParallelFor& parallel_for, int threads);
void patch_products(const PatchProducts<double>& work,
                    const ParallelFor& parallel_for,
                    int threads);

// Returns the instruction set chosen at start-up: "avx512", "avx2" or "reference".
// FLIGHTDECK_ISA=reference in the environment forces the plain loops.
std::string_view patch_products_isa();

}  // namespace flightdeck::kernels
