// SPDX-License-Identifier: MIT
// Peak memory on a GPU, from the statistics of LibTorch's caching allocator.
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>

#include "cli/machine/peak_memory.h"

namespace flightdeck::cli {

std::optional<int64_t> cuda_peak_bytes(const c10::Device& device,
                                       const std::function<void()>& work) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  constexpr size_t kAllPools = 0;  // StatType::AGGREGATE, whose namespace depends on the version
  c10::cuda::device_synchronize();
  allocator::resetPeakStats(device.index());
  const int64_t before =
      allocator::getDeviceStats(device.index()).allocated_bytes[kAllPools].current;
  work();
  c10::cuda::device_synchronize();
  return allocator::getDeviceStats(device.index()).allocated_bytes[kAllPools].peak - before;
}

}  // namespace flightdeck::cli
