// SPDX-License-Identifier: MIT
// Times a plain training loop and a watched one in turn, in one process.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cli/bench/turns.h"
#include "flightdeck/cockpit.h"
#include "flightdeck/quantity.h"
#include "run/training.h"

namespace flightdeck::cli {

struct OverheadOptions {
  run::TrainingOptions training;
  int64_t interval = 1;  // steps from one tracked step to the next: what is timed as one block
  int blocks = 15;       // timed
  int warm_up = 3;       // blocks before those
  Grouping grouping = Grouping::automatic();
};

// Measures step times as those of a block divided by its steps: with an interval of 16 one tracked
// step is spread over sixteen. Both loops start from the same parameters and see the same batches.
Timing measure_overhead(const OverheadOptions& options,
                        const std::vector<Quantity>& quantities,
                        const std::function<void(int block)>& on_block);

// Takes `count` steps, under the cockpit unless it is null.
void take_steps(run::Training& training, Cockpit* cockpit, int64_t count);

// Lets a quantity that fails end the measurement: one that is switched off would look cheap.
CockpitOptions strict_options(const Grouping& grouping);

}  // namespace flightdeck::cli
