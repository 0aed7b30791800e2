// SPDX-License-Identifier: MIT
// Tables as text: for people, for programs, and as a file.
#pragma once

#include <string>

#include "cli/text/json.h"
#include "run/table.h"

namespace flightdeck::cli {

using run::Cell;
using run::Table;

// Pads columns; numbers stand to the right and have four digits.
std::string padded_text(const Table& table);
// Writes a line of column names first, and numbers with all digits.
std::string csv_text(const Table& table);
// Makes an array with one object per row.
Json json_of(const Table& table);

}  // namespace flightdeck::cli
