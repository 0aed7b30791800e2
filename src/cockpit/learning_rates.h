// SPDX-License-Identifier: MIT
// The learning rate of every parameter, as told or as the optimizer has it.
#pragma once

#include <vector>

#include "flightdeck/cockpit.h"

namespace flightdeck {

/// Throws if neither optimizer nor rate was given, or the optimizer lacks a parameter.
std::vector<double> learning_rates(const Parameters& parameters, const WatchOptions& options);

}  // namespace flightdeck
