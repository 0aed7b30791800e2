// SPDX-License-Identifier: MIT
// Reads stretches of a series without reading all its points. Points are read only at the ends and
// where the journal has values.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "flightdeck/record.h"
#include "record/number_budget.h"
#include "record/view.h"

namespace flightdeck::record {

// These do the work of RunReader::stretches and RunReader::frames.
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
