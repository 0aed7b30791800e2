// SPDX-License-Identifier: MIT
// The variants behind patch_products(): the plain loops, and what an instruction set contributes to
// the blocked driver. Internal to this folder and its test.
#pragma once

#include <cstdint>

#include "kernels/patch_products/patch_products.h"

namespace flightdeck::kernels {

// Describes the part of G_n one task computes for all n: rows [i0, i0 + i_count), columns [j0, j0 +
// j_count). The width is j_count rounded up to whole vectors.
template <typename Scalar>
struct Block {
  int64_t i0 = 0, i_count = 0;
  int64_t j0 = 0, j_count = 0;
  int64_t panel_samples = 1;        // samples of b packed before they are used
  Scalar* panels = nullptr;         // scratch [panel_samples, T, width]
  Scalar* sum = nullptr;            // [i_count, width], starts at zero; null if not asked for
  Scalar* second = nullptr;         // [i_count, width], starts at zero; null if not asked for
  double* squared_norms = nullptr;  // [N], starts at zero; null if not asked for
};

template <typename Scalar>
struct BlockKernel {
  int64_t lanes;        // scalars per vector
  int64_t max_vectors;  // widest block, in vectors
  void (*run)(const PatchProducts<Scalar>& work, const Block<Scalar>& block);
};

struct BlockKernels {
  BlockKernel<float> f32;
  BlockKernel<double> f64;
};

// Return the vector code of one instruction set; null when the processor or the build lacks it.
const BlockKernels* avx2_kernels();
const BlockKernels* avx512_kernels();

// Runs plain loops: the definition of correct, for every processor and every size.
template <typename Scalar>
void run_reference(const PatchProducts<Scalar>& work, const ParallelFor& parallel_for, int threads);

// Cuts the work into blocks and runs `kernel` on each. N, T, I and J are positive.
template <typename Scalar>
void run_blocked(const PatchProducts<Scalar>& work,
                 const BlockKernel<Scalar>& kernel,
                 const ParallelFor& parallel_for,
                 int threads);

// Runs the reference where kernels is null or a size is zero, the blocked code elsewhere.
void run_patch_products(const PatchProducts<float>& work,
                        const BlockKernels* kernels,
                        const ParallelFor& parallel_for,
                        int threads);
void run_patch_products(const PatchProducts<double>& work,
                        const BlockKernels* kernels,
                        const ParallelFor& parallel_for,
                        int threads);

}  // namespace flightdeck::kernels
