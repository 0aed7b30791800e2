// SPDX-License-Identifier: MIT
// A build without CUDA cannot count a GPU's memory.
#include "cli/machine/peak_memory.h"

namespace flightdeck::cli {

std::optional<int64_t> cuda_peak_bytes(const c10::Device&, const std::function<void()>&) {
  return std::nullopt;
}

}  // namespace flightdeck::cli
