// SPDX-License-Identifier: MIT
// Counting into bins on a GPU. Counts are added to; pointers are the device's.
#pragma once

#include <cstdint>

#include "kernels/counting/counting.h"

namespace flightdeck::kernels {

// One block keeps its counts in shared memory; more bins than this have no kernel.
constexpr int64_t kGpuBins = 8192;

// Adds raw counts [count + 3] of x[0..n): below, the bins, above, NaN.
template <typename Scalar>
void gpu_count(
    const Scalar* x, int64_t n, const EqualBins<Scalar>& bins, int64_t* counts, void* stream);

// Adds the raw counts of all products a[n][i] * b[n][j]; a [N, I], b [N, J].
template <typename Scalar>
void gpu_count_outer(const Scalar* a,
                     const Scalar* b,
                     int64_t N,
                     int64_t I,
                     int64_t J,
                     const EqualBins<Scalar>& bins,
                     int64_t* counts,
                     void* stream);

// Adds joint counts [bins, value_bins] of rows [N, d], clamped into the range, and value_bin [d];
// NaN and entries whose value bin is outside are left out.
template <typename Scalar>
void gpu_count_joint(const Scalar* rows,
                     int64_t N,
                     int64_t d,
                     const int32_t* value_bin,
                     int64_t value_bins,
                     const EqualBins<Scalar>& bins,
                     int64_t* counts,
                     void* stream);

// Adds the joint counts of the rows a[n][i] * b[n][j] with value_bin [I, J].
template <typename Scalar>
void gpu_count_outer_joint(const Scalar* a,
                           const Scalar* b,
                           int64_t N,
                           int64_t I,
                           int64_t J,
                           const int32_t* value_bin,
                           int64_t value_bins,
                           const EqualBins<Scalar>& bins,
                           int64_t* counts,
                           void* stream);

}  // namespace flightdeck::kernels
