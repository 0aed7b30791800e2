// SPDX-License-Identifier: MIT
// Vectors of 16 bytes, which every 64-bit processor has.
#include "kernels/entry_sums/simd.h"

namespace flightdeck::kernels {

const EntrySumsVariant kBaselineEntrySums = kEntrySums<16>;

}  // namespace flightdeck::kernels
