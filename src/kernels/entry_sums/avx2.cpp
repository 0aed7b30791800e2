// SPDX-License-Identifier: MIT
// AVX2: 16 registers of 8 floats or 4 doubles. With AVX-512 too: memory is the limit.
#include "kernels/entry_sums/simd.h"

namespace flightdeck::kernels {

const EntrySumsVariant kAvx2EntrySums = kEntrySums<32>;

}  // namespace flightdeck::kernels
