// SPDX-License-Identifier: MIT
// The CUDA driver and its run-time compiler, found while the program runs: what was built on a
// machine without CUDA uses it on one that has it. The few prototypes are written down here, so
// that no header of CUDA is needed.
#pragma once

#include <memory>
#include <string>

namespace flightdeck::kernels {

struct LaunchShape {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes = 0;
};

class RunTimeCuda {
 public:
  // Returns null if the driver is not there; `why` then says so.
  static const RunTimeCuda* find(std::string& why);
  // Returns the context of this thread; null if there is none, or no driver.
  static void* current_context();

  // Compiles for the device of the current context, or takes what was compiled before from the
  // cache. Null if that fails; `text` says why, or how it came about.
  void* compiled(const char* source, std::string& text) const;
  // Returns null if there is no function of that name.
  void* function(void* module, const char* name) const;
  bool launch(void* function, const LaunchShape& shape, void* stream, void** arguments) const;

 private:
  struct Driver;
  explicit RunTimeCuda(const Driver& driver) : driver_(driver) {}
  static const Driver* driver();

  const Driver& driver_;
};

}  // namespace flightdeck::kernels
