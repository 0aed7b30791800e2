// SPDX-License-Identifier: MIT
// The tables of run.sqlite. A change that older readers cannot read raises kFormat;
// docs/wire_format.md keeps the history.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flightdeck/reading.h"

namespace flightdeck::record {

constexpr int64_t kFormat = 1;                // PRAGMA user_version
constexpr int64_t kApplication = 0x46444b31;  // PRAGMA application_id: "FDK1"
constexpr int64_t kNoJournal = -1;            // journal_generation of a run that was folded

extern const char* const kSchema;

// Readers check and use these tables.
extern const std::vector<std::string> kTables;

// Returns the table that has the values of a kind.
const char* table_of(ReadingKind kind);

// Returns the kind that column `kind` of table series names.
ReadingKind kind_of(const std::string& name);

}  // namespace flightdeck::record
