// SPDX-License-Identifier: MIT
// AVX-512: three vectors of entries and a factor stay in registers beside 27 sums.
#include "kernels/avx512_lanes.h"
#include "kernels/sparse_columns/simd.h"
#include "kernels/sparse_columns/x86.h"

namespace flightdeck::kernels {
namespace {

template <class Lanes>
struct Tiled : Lanes {
  static constexpr int kSums = 27;
  static constexpr int kMostColumns = 9;
};

}  // namespace

const SparseKernels kAvx512SparseKernels = {sparse_kernel<Tiled<Avx512Floats>>(),
                                            sparse_kernel<Tiled<Avx512Doubles>>()};

}  // namespace flightdeck::kernels
