// SPDX-License-Identifier: MIT
// Other ways to run the tasks of a kernel than its own.
#pragma once

#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace flightdeck::kernels {

// Runs the tasks last to first: no result may rely on their order.
inline void run_backwards(int64_t tasks, const std::function<void(int64_t)>& body) {
  for (int64_t task = tasks - 1; task >= 0; --task) body(task);
}

inline void run_on_threads(int64_t tasks, const std::function<void(int64_t)>& body) {
  std::vector<std::thread> threads;
  for (int64_t task = 0; task < tasks; ++task) threads.emplace_back(body, task);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace flightdeck::kernels
