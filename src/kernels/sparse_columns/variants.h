// SPDX-License-Identifier: MIT
// The variants behind sparse_squares() and sparse_inputs(): the plain loops, and what an
// instruction set contributes. Internal to this folder and its test.
#pragma once

#include <cstdint>

#include "kernels/sparse_columns/sparse_columns.h"

namespace flightdeck::kernels {

// Holds entries that are not zero: entry e multiplies the vectors at base + offset[e] by
// value[e * K + k] for column k.
template <typename Scalar>
struct SparseRun {
  const Scalar* base;
  const int32_t* offset;
  const Scalar* value;
  int64_t count;
};

// Describes one tile of sums, [columns, vectors], over some runs of entries.
template <typename Scalar>
struct SparseTile {
  const SparseRun<Scalar>* runs;
  int64_t count;
  int64_t K;       // elements between the values of two entries
  int64_t column;  // first of the columns
  Scalar* to;
  int64_t to_column;  // elements between columns of `to`, where they are stored
};

template <typename Scalar>
struct SparseKernel {
  // Adds the squares of the sums to to[vectors], or stores the sums at to[columns][vectors].
  using Run = void (*)(const SparseTile<Scalar>& tile);

  int64_t lanes;
  int64_t most_columns;                      // of one tile
  int64_t (*most_vectors)(int64_t columns);  // of a tile of so many columns
  Run (*squares)(int64_t columns, int64_t vectors);
  Run (*store)(int64_t columns, int64_t vectors);
  // Writes the positions below T at which one of K lines is not zero; returns their number.
  int64_t (*find)(const Scalar* const* lines, int64_t K, int64_t T, int32_t* positions);
};

struct SparseKernels {
  SparseKernel<float> f32;
  SparseKernel<double> f64;
};

// Return the vector code of one instruction set; null when the processor or the build lacks it.
const SparseKernels* avx2_sparse_kernels();
const SparseKernels* avx512_sparse_kernels();

// Run plain loops: the definition of correct, for every processor and every size.
template <typename Scalar>
void run_reference(const SparseSquares<Scalar>& work);
template <typename Scalar>
void run_reference(const SparseInputs<Scalar>& work);

// Run the reference where kernels is null or a size is zero, the vector code elsewhere.
template <typename Scalar>
void run_sparse_squares(const SparseSquares<Scalar>& work,
                        const SparseKernels* kernels,
                        const ParallelFor& parallel_for,
                        int threads);
template <typename Scalar>
void run_sparse_inputs(const SparseInputs<Scalar>& work,
                       const SparseKernels* kernels,
                       const ParallelFor& parallel_for);

}  // namespace flightdeck::kernels
