// SPDX-License-Identifier: MIT
// Stands in for x86.cpp, avx2.cpp and avx512.cpp on other architectures.
#include "kernels/patch_products/variants.h"

namespace flightdeck::kernels {

const BlockKernels* avx2_kernels() { return nullptr; }
const BlockKernels* avx512_kernels() { return nullptr; }

}  // namespace flightdeck::kernels
