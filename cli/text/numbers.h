// SPDX-License-Identifier: MIT
// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

#include "base/shown_number.h"

namespace flightdeck::cli {

/// "0.4 s", "12 s", "3 min 05 s", "2 h 14 min".
std::string duration(double seconds);

/// "1.5 GB", in powers of ten.
std::string bytes(double count);

/// "1 step", "3 steps".
std::string counted(int64_t count, const std::string& thing);

/// Local time as "2026-01-31 18:04:09".
std::string date_and_time(double seconds_since_1970);
/// The same as "20260131-180409", for names of folders.
std::string compact_date_and_time(double seconds_since_1970);

/// Seconds since 1970.
double now();

}  // namespace flightdeck::cli
