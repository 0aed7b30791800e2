// SPDX-License-Identifier: MIT
// AVX2: 16 registers of 8 floats or 4 doubles. Cost model in simd.h.
#include <immintrin.h>

#include "kernels/counting/lanes.h"
#include "kernels/counting/simd.h"
#include "kernels/counting/variants.h"

namespace flightdeck::kernels {
namespace {

struct Floats : PlainLanes<float, 32> {
  static constexpr int kTile = 6;
  static uint32_t bits(Mask mask) { return uint32_t(_mm256_movemask_ps(__m256(mask))); }
};

struct Doubles : PlainLanes<double, 32> {
  static constexpr int kTile = 6;
  static uint32_t bits(Mask mask) { return uint32_t(_mm256_movemask_pd(__m256d(mask))); }
};

}  // namespace

const CountingVariant kAvx2Counting = {&kCounting<Floats>, &kCounting<Doubles>};

}  // namespace flightdeck::kernels
