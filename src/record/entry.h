// SPDX-License-Identifier: MIT
// One call of a recorder as bytes: the payload of a journal entry.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "flightdeck/reading.h"

namespace flightdeck::record {

// Says that the run has ended, by the word of an `Ending` or one that a program chose in an earlier
// version.
struct EndEntry {
  std::string word;
};

using Entry = std::variant<RunInfo, StepReadings, Note, EndEntry>;

// Each of these appends to `out`.
void put_entry(std::string& out, const RunInfo& info);
void put_entry(std::string& out, const StepReadings& step);
void put_entry(std::string& out, const Note& note);
void put_entry(std::string& out, const EndEntry& ending);

// Reads a payload. Throws std::runtime_error if the bytes are no entry.
Entry read_entry(std::string_view payload);

}  // namespace flightdeck::record
