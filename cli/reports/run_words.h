// SPDX-License-Identifier: MIT
// Schedules in words, for the beginning of a run.
#pragma once

#include <string>

namespace flightdeck::cli {

// Writes "constant", "cosine: (1 + cos(pi t)) / 2 over the run, down to LAST (0)".
std::string schedule_words(const std::string& schedule);

// Explains "...; log 0 4 300" at the end of `tracked`: "log 0 4 300: at most 300 steps, evenly
// spaced in the exponent from step 10^0 to 10^4, and step 0". Empty where it explains itself.
std::string due_words(const std::string& tracked);

}  // namespace flightdeck::cli
