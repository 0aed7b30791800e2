// SPDX-License-Identifier: MIT
// The time of day, times as text, and how long something takes.
#pragma once

#include <chrono>
#include <string>

namespace flightdeck {

// Reads the system's clock, which may jump.
double seconds_since_1970();

// This clock measures durations, since it never jumps.
using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}
inline double seconds_since(Clock::time_point begin) {
  return seconds_between(begin, Clock::now());
}

// Returns local time as "2026-01-31 18:04:09"; "?" for a time that no calendar has.
std::string date_and_time(double seconds_since_1970);
// Returns the same as "20260131-180409", for names of folders.
std::string compact_date_and_time(double seconds_since_1970);

}  // namespace flightdeck
