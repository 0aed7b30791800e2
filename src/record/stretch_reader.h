// SPDX-License-Identifier: MIT
// Reads a series without reading its points: from table stretches, and only at the ends and where
// the journal has values from the points themselves.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "flightdeck/record.h"
#include "record/number_budget.h"
#include "record/view.h"

namespace flightdeck::record {

// As RunReader::stretches and RunReader::frames.
std::vector<NumberStretch> read_stretches(const View& view,
                                          const SeriesInfo& series,
                                          const StepRange& range,
                                          int64_t at_most);
std::vector<std::pair<int64_t, Reading>> read_frames(const View& view,
                                                     const SeriesInfo& series,
                                                     const StepRange& range,
                                                     int64_t at_most,
                                                     NumberBudget& budget);

}  // namespace flightdeck::record
