// SPDX-License-Identifier: MIT
// The runs' last values in the text format of Prometheus.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "serve/lamp_counts.h"
#include "serve/wire.h"

namespace flightdeck::serve {

// Holds counts of the server itself.
struct ServerCounts {
  int64_t requests = 0, refused = 0, connections = 0, event_streams = 0;
};

// Writes the metrics. `lit` has the lamps of each run.
std::string metrics_text(const wire::RunList& list,
                         const std::map<std::string, LitLamps>& lit,
                         const ServerCounts& counts);

}  // namespace flightdeck::serve
