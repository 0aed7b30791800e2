// SPDX-License-Identifier: MIT
// AVX-512. Cost model in simd.h.
#include "kernels/avx512_lanes.h"
#include "kernels/patch_products/simd.h"
#include "kernels/patch_products/x86.h"

namespace flightdeck::kernels {
namespace {

template <class Lanes>
struct Tiled : Lanes {
  static constexpr int kMaxVectors = 4;
  static constexpr int kAccumulators = 24;
};

}  // namespace

const BlockKernels kAvx512Kernels = {block_kernel<Tiled<Avx512Floats>>(),
                                     block_kernel<Tiled<Avx512Doubles>>()};

}  // namespace flightdeck::kernels
