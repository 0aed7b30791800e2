// SPDX-License-Identifier: MIT
// What a record should say about the process and the model.
#pragma once

#include "cockpit/plan.h"
#include "flightdeck/parameters.h"
#include "flightdeck/reading.h"

namespace flightdeck {

// Collects everything but what the graph tells: groups, coverage.
RunInfo make_run_info(const Parameters& parameters,
                      const std::vector<TrackedQuantity>& all_tracked);

}  // namespace flightdeck
