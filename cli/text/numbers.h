// SPDX-License-Identifier: MIT
// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

#include "base/shown_number.h"

namespace flightdeck::cli {

// Writes "0.4 s", "12 s", "3 min 05 s", "2 h 14 min".
std::string duration(double seconds);

// Writes "1.5 GB", in powers of ten.
std::string bytes(double count);

// Writes "1 step", "3 steps".
std::string counted(int64_t count, const std::string& thing);

}  // namespace flightdeck::cli
