// SPDX-License-Identifier: MIT
// Asks the processor which vector code it can run. Separate from that code, which the compiler may
// fill with instructions the processor lacks.
#include "kernels/sparse_columns/x86.h"

#include "kernels/patch_products/variants.h"

namespace flightdeck::kernels {

// The instructions are those of the patch products.
const SparseKernels* avx2_sparse_kernels() {
  return avx2_kernels() != nullptr ? &kAvx2SparseKernels : nullptr;
}

const SparseKernels* avx512_sparse_kernels() {
  return avx512_kernels() != nullptr ? &kAvx512SparseKernels : nullptr;
}

}  // namespace flightdeck::kernels
