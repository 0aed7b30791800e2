// SPDX-License-Identifier: MIT
// How many lamps of each severity are lit in each run, for the metrics: a run is looked at again
// when it has changed, and few runs in one request.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "serve/run_shelf.h"

namespace flightdeck::serve {

// Counts lamps of severity advice, warning and failure, in this order.
using LitLamps = std::array<int64_t, 3>;

class LampCounts {
 public:
  // Returns the counts by run. Runs that could not be looked at yet, or not at all, are left out.
  std::map<std::string, LitLamps> of(const RunShelf& shelf, const wire::RunList& list);

 private:
  struct Seen {
    int64_t change = -1;
    LitLamps lit{};
  };
  std::mutex mutex_;
  std::map<std::string, Seen> seen_;
};

}  // namespace flightdeck::serve
