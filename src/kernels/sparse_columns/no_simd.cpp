// SPDX-License-Identifier: MIT
// Stands in for x86.cpp, avx2.cpp and avx512.cpp on other architectures.
#include "kernels/sparse_columns/variants.h"

namespace flightdeck::kernels {

const SparseKernels* avx2_sparse_kernels() { return nullptr; }
const SparseKernels* avx512_sparse_kernels() { return nullptr; }

}  // namespace flightdeck::kernels
