// SPDX-License-Identifier: MIT
// Counts what a program asks of the CUDA driver: kernels, copies, waits. CUPTI is found at run
// time.
#pragma once

#include <cstdint>
#include <memory>

namespace flightdeck::cli {

struct DriverCounts {
  int64_t kernels = 0, copies = 0, waits = 0;
};

class DriverCalls {
 public:
  // Returns nothing if there is no CUPTI in this process or beside it.
  static std::unique_ptr<DriverCalls> count();
  virtual ~DriverCalls() = default;
  // Returns the counts since `count`.
  virtual DriverCounts counts() const = 0;
};

}  // namespace flightdeck::cli
