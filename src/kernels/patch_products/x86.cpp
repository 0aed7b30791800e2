// SPDX-License-Identifier: MIT
// Asks the processor which vector code it can run. Separate from that code, which the compiler may
// fill with instructions the processor lacks.
#include "kernels/patch_products/x86.h"

namespace flightdeck::kernels {

const BlockKernels* avx2_kernels() {
  const bool is_supported = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return is_supported ? &kAvx2Kernels : nullptr;
}

const BlockKernels* avx512_kernels() {
  const bool is_supported = __builtin_cpu_supports("avx512f") &&
                            __builtin_cpu_supports("avx512vl") &&
                            __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma");
  return is_supported ? &kAvx512Kernels : nullptr;
}

}  // namespace flightdeck::kernels
