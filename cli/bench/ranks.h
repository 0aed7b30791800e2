// SPDX-License-Identifier: MIT
// What a cockpit over several ranks sends: collectives and bytes, counted between threads.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "flightdeck/quantity.h"
#include "suite/problem.h"

namespace flightdeck::cli {

struct RanksOptions {
  int64_t ranks = 2;
  int64_t batch_size = 32;  // of each rank
  int64_t interval = 1;     // between due steps
};

// What each rank gives to its group.
struct RankTraffic {
  // Counted at a step where all is due; below, on average over an interval that begins with one.
  double due_collectives = 0, due_bytes = 0;
  double collectives = 0, bytes = 0;
};

// Counts for a network of random numbers. `make_quantities` is called for every rank.
RankTraffic count_traffic(const suite::Problem& problem,
                          const RanksOptions& options,
                          const std::function<std::vector<Quantity>()>& make_quantities);

}  // namespace flightdeck::cli
