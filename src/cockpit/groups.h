// SPDX-License-Identifier: MIT
// Groups of parameters by name or by their place in the graph.
#pragma once

#include "flightdeck/grouping.h"
#include "flightdeck/parameters.h"
#include "passes/capture.h"

namespace flightdeck {

// Returns true if groups can only be told from a graph.
bool needs_graph(const Grouping& grouping);

// Returns what an automatic grouping comes to for these parameters, and any other as it is.
Grouping settled(const Grouping& grouping, const Parameters& parameters);

// `capture` may be null unless `needs_graph`.
Groups make_groups(const Grouping& grouping, const Parameters& parameters, const Capture* capture);

// Returns the name up to its last dot, or its first `levels` parts; the name itself if it has no
// dot.
std::string module_of(const std::string& parameter, int64_t levels = 0);

}  // namespace flightdeck
