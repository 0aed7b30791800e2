// SPDX-License-Identifier: MIT
// The x86 kernels, whether or not the processor has their instructions.
#pragma once

#include "kernels/sparse_columns/variants.h"

namespace flightdeck::kernels {

extern const SparseKernels kAvx2SparseKernels;
extern const SparseKernels kAvx512SparseKernels;

}  // namespace flightdeck::kernels
