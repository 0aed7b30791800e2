// SPDX-License-Identifier: MIT
// Text that others wrote, made safe for documents and terminals.
#pragma once

#include <string>

namespace flightdeck::record {

// Returns the text with U+FFFD for bytes that are no UTF-8. Names may come from anywhere, but a
// document has to be valid.
std::string valid_utf8(const std::string& text);

enum class Lines { kKept, kEscaped };

// Returns text of others for a terminal: what it would obey (control characters, escapes,
// directions of writing) and bytes that are no UTF-8 are shown as \x1b, \u202e.
std::string printable(const std::string& text, Lines lines = Lines::kEscaped);

}  // namespace flightdeck::record
