// SPDX-License-Identifier: MIT
// Numbers and names as text of the exported formats.
#pragma once

#include <string>

namespace flightdeck::record {

/// The fewest digits that read back as the same number; "NaN", "Infinity", "-Infinity".
std::string number_text(double value);

/// A JSON number, or the string "NaN", "Infinity", "-Infinity".
std::string json_number(double value);

/// The text with U+FFFD for bytes that are no UTF-8: a name may come from anywhere, a document has
/// to be valid.
std::string valid_utf8(const std::string& text);

/// A quoted JSON string of what is valid.
std::string json_string(const std::string& text);

/// A field of a CSV file (RFC 4180): quoted where it has to be.
std::string csv_field(const std::string& text);

}  // namespace flightdeck::record
