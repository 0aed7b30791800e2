// SPDX-License-Identifier: MIT
// What lamps say of a run, for people at a terminal and for programs.
#pragma once

#include <string>
#include <vector>

#include "cli/text/json.h"
#include "flightdeck/lamp.h"

namespace flightdeck::cli {

Json finding_json(const Finding& finding);

// Returns findings of lamps that read values. Leaves out those of notes and of the ending: who
// prints how a run ended says these himself. Empty where the record cannot be read.
std::vector<Finding> findings_by_values(const std::string& folder);

}  // namespace flightdeck::cli
