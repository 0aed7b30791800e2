// SPDX-License-Identifier: MIT
// The GPUs of this machine: cuda_gpus.cpp, or no_cuda_gpus.cpp in a build without CUDA.
#pragma once

#include <string>
#include <vector>

namespace flightdeck::cli {

// Returns "NVIDIA H200, 150 GB" and the like, in LibTorch's order; empty if the build cannot ask.
std::vector<std::string> gpu_names();

}  // namespace flightdeck::cli
