// SPDX-License-Identifier: MIT
// Stands in for avx2.cpp and avx512.cpp on other architectures.
#include "kernels/counting/variants.h"

namespace flightdeck::kernels {

const CountingVariant kAvx2Counting = {nullptr, nullptr};
const CountingVariant kAvx512Counting = {nullptr, nullptr};

}  // namespace flightdeck::kernels
