// SPDX-License-Identifier: MIT
// Vectors of 16 bytes, which every 64-bit processor has. Cost model in simd.h.
#include "kernels/counting/lanes.h"
#include "kernels/counting/simd.h"
#include "kernels/counting/variants.h"

namespace flightdeck::kernels {
namespace {

template <typename Scalar>
struct Lanes : PlainLanes<Scalar, 16> {
  static constexpr int kTile = 4;
};

}  // namespace

const CountingVariant kBaselineCounting = {&kCounting<Lanes<float>>, &kCounting<Lanes<double>>};

}  // namespace flightdeck::kernels
