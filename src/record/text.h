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

/// A quoted JSON string of what is valid; control characters are escaped, so that a terminal shows
/// them.
std::string json_string(const std::string& text);

enum class Lines { kKept, kEscaped };

/// Text of others for a terminal: what it would obey (control characters, escapes, directions of
/// writing) and bytes that are no UTF-8 are shown as \x1b, \u202e.
std::string printable(const std::string& text, Lines lines = Lines::kEscaped);

}  // namespace flightdeck::record
