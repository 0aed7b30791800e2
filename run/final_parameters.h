// SPDX-License-Identifier: MIT
// The parameters that a run ended with, as readings of its record.
#pragma once

#include <vector>

#include "flightdeck/parameters.h"
#include "flightdeck/reading.h"

namespace flightdeck::run {

// Returns histograms "final_parameters" of the entries: of the whole model, then of every module
// that has parameters of its own, up to 200 of them, all with the same bins around 0. Entries that
// are not finite are counted apart. There are none where no entry is finite or all are zero.
std::vector<Reading> final_parameter_readings(const Parameters& parameters);

}  // namespace flightdeck::run
