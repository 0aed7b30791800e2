// SPDX-License-Identifier: MIT
// Readings that set the ranks beside one another.
#pragma once

#include <vector>

#include "cockpit/crew_table.h"
#include "cockpit/plan.h"
#include "flightdeck/cockpit.h"

namespace flightdeck {

// Returns what the lines of all ranks tell. Parameters of which every rank holds a part cannot
// drift apart.
std::vector<Reading> rank_readings(const CrewTable& table, const Plan& layout, bool is_sharded);

// Adds how many samples several ranks have, by the ids of all ranks' samples.
void add_overlap(const CrewTable& table,
                 const std::vector<double>& ids,
                 std::vector<Reading>& readings);
// Appends how far the labels of each rank are from those of all: half the sum over classes of
// | share among the rank's labels - share among all |, and what that is on average where samples
// are dealt at random. The labels stand in the order of the ranks.
void add_label_distances(const CrewTable& table,
                         const std::vector<double>& labels,
                         std::vector<Reading>& readings);

}  // namespace flightdeck
