// SPDX-License-Identifier: MIT
// Columns that reach a convolution through max-pooling and relu are zero at most positions, and all
// columns of a sample at the same ones. Two products with them that multiply nothing by zero: the
// squares of the rows that they make with the patches of the input, and the columns themselves one
// op further down.
//
// A product with a zero is left out, so the other factor is to be finite.
#pragma once

#include <cstdint>

#include "kernels/parallel_for.h"

namespace flightdeck::kernels {

// The most that may be read behind the last entry of `a` and `w`: loads are of whole vectors.
constexpr int64_t kReadAhead = 16;

// Asks for sum_kn G_kn² with G_kn[j][i] = sum_t b_k[n][j][t] a_n[base[i / run] + i % run +
// step[t]]: the squared individual weight gradients of a convolution, summed over K columns and N
// samples.
template <typename Scalar>
struct SparseSquares {
  int64_t K = 0, N = 0, J = 0, T = 0;

  const Scalar* const* b = nullptr;  // [K]: entry (n, j, t) at b[k][(n * J + j) * T + t]
  const Scalar* a = nullptr;
  int64_t a_sample = 0;           // elements between samples of a
  const int64_t* base = nullptr;  // [runs] element offsets
  int64_t runs = 0, run = 0;      // patches are so many runs of so many neighbours
  const int64_t* step = nullptr;  // [T] element offsets

  Scalar* squares = nullptr;  // [J, runs * run], overwritten
};

// Asks for x_kn[c][p] = sum over the pairs (t, o) that reach p and over j of
// b_k[n][j][t] w[j][o][c]: the input gradient of a convolution, for K columns.
template <typename Scalar>
struct SparseInputs {
  struct Pair {
    int32_t t, o;
  };

  int64_t K = 0, N = 0, J = 0, T = 0, C = 0, P = 0;

  const Scalar* b = nullptr;  // [K, N, J, T]
  const Scalar* w = nullptr;  // [J, offsets, C]
  int64_t offsets = 0;
  const Pair* pairs = nullptr;     // those of position p are pairs[first[p]] to before first[p + 1]
  const int64_t* first = nullptr;  // [P + 1]

  Scalar* x = nullptr;  // [K, N, C, P], overwritten
};

// `threads` guides how finely the work is cut; the results do not depend on it beyond rounding of
// the norms.
void sparse_squares(const SparseSquares<float>& work, const ParallelFor& parallel_for, int threads);
void sparse_squares(const SparseSquares<double>& work,
                    const ParallelFor& parallel_for,
                    int threads);
void sparse_inputs(const SparseInputs<float>& work, const ParallelFor& parallel_for);
void sparse_inputs(const SparseInputs<double>& work, const ParallelFor& parallel_for);

// Returns the lanes of the instruction set chosen at start-up; 1 is the plain loops, which gain
// nothing over a dense product.
int64_t sparse_columns_lanes(bool is_double);

}  // namespace flightdeck::kernels
