// SPDX-License-Identifier: MIT
// AVX2 and FMA. Cost model in simd.h.
#include "kernels/avx2_lanes.h"
#include "kernels/patch_products/simd.h"
#include "kernels/patch_products/x86.h"

namespace flightdeck::kernels {
namespace {

template <class Lanes>
struct Tiled : Lanes {
  static constexpr int kMaxVectors = 2;
  static constexpr int kAccumulators = 12;
};

}  // namespace

const BlockKernels kAvx2Kernels = {block_kernel<Tiled<Avx2Floats>>(),
                                   block_kernel<Tiled<Avx2Doubles>>()};

}  // namespace flightdeck::kernels
