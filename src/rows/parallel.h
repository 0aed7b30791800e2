// SPDX-License-Identifier: MIT
// LibTorch's threads, as kernels are given them.
#pragma once

#include <functional>

#include <ATen/Parallel.h>

namespace flightdeck {

inline void run_in_parallel(int64_t tasks, const std::function<void(int64_t)>& body) {
  at::parallel_for(0, tasks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) body(task);
  });
}

}  // namespace flightdeck
