// SPDX-License-Identifier: MIT
// Counts the operations, launches, copies and waits of a training step, plain and watched.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/driver_calls.h"
#include "cli/bench/overhead.h"

namespace flightdeck::cli {

// Means over the steps that were measured.
struct StepWork {
  double operations = 0;  // LibTorch's, those inside of others not counted
  double host_ms = 0;     // until the step's last call returns; the device may still be at work
  double ms = 0;          // with the device's queue
  // These are set only where the driver's calls can be counted.
  std::optional<double> kernels, copies, waits;
  std::map<std::string, double> by_operation;
};

struct LaunchCounts {
  StepWork plain, watched;
};

LaunchCounts count_launches(const OverheadOptions& options,
                            const std::vector<Quantity>& quantities);

}  // namespace flightdeck::cli
