// SPDX-License-Identifier: MIT
#include <cuda_runtime_api.h>

#include "cli/machine/gpus.h"
#include "cli/text/numbers.h"

namespace flightdeck::cli {

std::vector<std::string> gpu_names() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};
  std::vector<std::string> names;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    names.push_back(std::string(properties.name) + ", " +
                    bytes(static_cast<double>(properties.totalGlobalMem)));
  }
  return names;
}

}  // namespace flightdeck::cli
