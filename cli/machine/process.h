// SPDX-License-Identifier: MIT
// Preparation of a process that trains or measures: device, threads, memory, precision.
#pragma once

#include <string>

#include <ATen/core/Tensor.h>

namespace flightdeck::cli {

// Reads "cpu" or "cuda". `command` is how messages call the command. Throws UsageError on another
// name and an error if LibTorch sees no GPU.
at::Device chosen_device(const std::string& command, const std::string& name);

// Puts threads (0: one per core), memory and precision right. May start the program again: call
// it before any work.
void prepare_process(int threads);

}  // namespace flightdeck::cli
