// SPDX-License-Identifier: MIT
// Peak memory of a piece of work, counted in LibTorch's allocators.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include <c10/core/Device.h>

namespace flightdeck::cli {

// Returns the most bytes of tensor memory that `work` held at one time, beyond what was held
// before it. Nothing if the build cannot count memory of that device. On the CPU every allocation
// is slowed a little: do not time `work`.
std::optional<int64_t> peak_bytes(const c10::Device& device, const std::function<void()>& work);

// Does the same for CUDA alone: cuda_memory.cpp, or no_cuda_memory.cpp in a build without CUDA.
std::optional<int64_t> cuda_peak_bytes(const c10::Device& device,
                                       const std::function<void()>& work);

}  // namespace flightdeck::cli
