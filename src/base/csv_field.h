// SPDX-License-Identifier: MIT
// Text as a field of a CSV file.
#pragma once

#include <string>

namespace flightdeck {

/// Quoted where RFC 4180 asks for it. Spreadsheets run what begins like a formula: such a text gets
/// an apostrophe in front, which they take for "this is text". Numbers do not come here.
inline std::string csv_field(const std::string& text) {
  const bool is_formula =
      !text.empty() && std::string("=+-@\t\r").find(text[0]) != std::string::npos;
  const std::string shown = is_formula ? "'" + text : text;
  if (shown.find_first_of(",\"\r\n") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (const char character : shown) quoted.append(character == '"' ? 2 : 1, character);
  return quoted + '"';
}

}  // namespace flightdeck
