// SPDX-License-Identifier: MIT
// The x86 kernels, whether or not the processor has their instructions.
#pragma once

#include "kernels/patch_products/variants.h"

namespace flightdeck::kernels {

extern const BlockKernels kAvx2Kernels;
extern const BlockKernels kAvx512Kernels;

}  // namespace flightdeck::kernels
