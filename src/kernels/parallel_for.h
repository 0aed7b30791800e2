// SPDX-License-Identifier: MIT
// How kernels are given their threads.
#pragma once

#include <cstdint>
#include <functional>

namespace flightdeck::kernels {

// Runs body(task) for task in [0, tasks), in any order, on any number of threads.
using ParallelFor = std::function<void(int64_t tasks, const std::function<void(int64_t)>& body)>;

}  // namespace flightdeck::kernels
