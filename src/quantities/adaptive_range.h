// SPDX-License-Identifier: MIT
// Histogram ranges that follow the data: the range of one tracked step is set by the one before.
#pragma once

#include "flightdeck/quantity.h"

namespace flightdeck {

struct AdaptiveRange {
  double padding = 0;
  double min_size = 1e-6;

  // Returns the same number of bins over +-(1 + padding) max(min_size / 2, largest). A largest
  // magnitude that is not finite leaves the range as it is.
  Bins adapt(const Bins& bins, double largest) const;
};

// Declares and reads `<prefix>padding`.
double read_padding(Settings& settings, const std::string& prefix);

// Throws, naming `owner`, unless low < high, both finite.
void check_range(const std::string& owner, const Bins& bins);

// Return the largest magnitude of an entry, for the whole model. The first one needs
// Need::kIndividual. Both wait for the device: bins are set from the host.
double largest_gradient_entry(const StepView& step);
double largest_parameter_entry(const StepView& step);

}  // namespace flightdeck
