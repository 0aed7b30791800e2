// SPDX-License-Identifier: MIT
// What the CPU can do, as far as the choice of BLAS kernels and thread counts needs it.
#pragma once

#include <string>

namespace flightdeck::cli {

enum class VectorSet { kNone, kAvx2, kAvx512 };

// Returns the widest vector instructions of this CPU that BLAS kernels are written for.
VectorSet vector_set();

// Returns "avx512", "avx2" or "none".
const char* to_string(VectorSet set);

// Counts cores this process may run on, hardware threads of one core once; at least 1.
int core_count();

// Returns the CPU's name as the operating system gives it; "unknown" if it gives none.
std::string processor_name();

}  // namespace flightdeck::cli
