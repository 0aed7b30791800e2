// SPDX-License-Identifier: MIT
// What no record may have in a reading. Recorders leave such readings out, and readers call them
// damage.
#pragma once

#include <string>

#include "flightdeck/reading.h"

namespace flightdeck::record {

// Says what is wrong, such as "has 7 counts but axes of 2 x 3 bins"; empty if the reading is sound.
std::string reading_fault(const Reading& reading);

// These say the same of its names, and of its axes, alone.
std::string name_fault(const std::string& quantity,
                       const std::string& field,
                       const std::string& group);
std::string axes_fault(const std::vector<ReadingAxis>& axes);

// Returns how many bins sound axes have together.
int64_t bins_of(const std::vector<ReadingAxis>& axes);

}  // namespace flightdeck::record
