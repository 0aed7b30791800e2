// SPDX-License-Identifier: MIT
// One call of a recorder as bytes: the payload of a journal entry.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "flightdeck/reading.h"

namespace flightdeck::record {

/// The run has ended this way: "finished", "interrupted", "diverged" or "failed".
struct Ending {
  std::string word;
};

using Entry = std::variant<RunInfo, StepReadings, Note, Ending>;

/// Each appends to `out`.
void put_entry(std::string& out, const RunInfo& info);
void put_entry(std::string& out, const StepReadings& step);
void put_entry(std::string& out, const Note& note);
void put_entry(std::string& out, const Ending& ending);

/// Throws std::runtime_error if the bytes are no entry.
Entry read_entry(std::string_view payload);

}  // namespace flightdeck::record
