// SPDX-License-Identifier: MIT
#include "cli/machine/processor.h"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <set>

namespace flightdeck::cli {

VectorSet vector_set() {
#if defined(__x86_64__)
  // OpenBLAS's SKYLAKEX kernels use these four parts of AVX-512.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return VectorSet::kAvx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return VectorSet::kAvx2;
#endif
  return VectorSet::kNone;
}

const char* to_string(VectorSet set) {
  switch (set) {
    case VectorSet::kAvx512:
      return "avx512";
    case VectorSet::kAvx2:
      return "avx2";
    case VectorSet::kNone:
      return "none";
  }
  return "none";
}

int core_count() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    // Lists the hardware threads on this core; the CPU itself where the system does not tell.
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                       "/topology/thread_siblings_list");
    std::string siblings = std::to_string(cpu);
    std::getline(file, siblings);
    cores.insert(siblings);
  }
  return std::max(1, static_cast<int>(cores.size()));
}

std::string processor_name() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace flightdeck::cli
