// SPDX-License-Identifier: MIT
// The runs' last values in the text format of Prometheus.
#pragma once

#include <cstdint>
#include <string>

#include "serve/wire.h"

namespace flightdeck::serve {

// Counts of the server itself.
struct ServerCounts {
  int64_t requests = 0, refused = 0, connections = 0, event_streams = 0;
};

std::string metrics_text(const wire::RunList& list, const ServerCounts& counts);

}  // namespace flightdeck::serve
