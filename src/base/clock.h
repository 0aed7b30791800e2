// SPDX-License-Identifier: MIT
// The time of day, and times as text.
#pragma once

#include <string>

namespace flightdeck {

// Of the system's clock.
double seconds_since_1970();

// Local time as "2026-01-31 18:04:09"; "?" for a time that no calendar has.
std::string date_and_time(double seconds_since_1970);
// The same as "20260131-180409", for names of folders.
std::string compact_date_and_time(double seconds_since_1970);

}  // namespace flightdeck
