// SPDX-License-Identifier: MIT
// AVX2 and FMA: three vectors of entries and a factor stay in registers beside twelve sums.
#include "kernels/avx2_lanes.h"
#include "kernels/sparse_columns/simd.h"
#include "kernels/sparse_columns/x86.h"

namespace flightdeck::kernels {
namespace {

template <class Lanes>
struct Tiled : Lanes {
  static constexpr int kSums = 12;
  static constexpr int kMostColumns = 4;
};

}  // namespace

const SparseKernels kAvx2SparseKernels = {sparse_kernel<Tiled<Avx2Floats>>(),
                                          sparse_kernel<Tiled<Avx2Doubles>>()};

}  // namespace flightdeck::kernels
