// SPDX-License-Identifier: MIT
// Stands in for avx2.cpp on other architectures.
#include "kernels/entry_sums/variants.h"

namespace flightdeck::kernels {

const EntrySumsVariant kAvx2EntrySums = {nullptr, nullptr, nullptr};

}  // namespace flightdeck::kernels
