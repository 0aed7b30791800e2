// SPDX-License-Identifier: MIT
// CSV by RFC 4180.
#pragma once

#include <string>
#include <vector>

namespace flightdeck {

// Returns a text as a field, in quotes where it needs them. Spreadsheets run what begins like a
// formula: such a text gets an apostrophe in front, which they take for "this is text". Numbers do
// not come here.
inline std::string csv_field(const std::string& text) {
  const bool is_formula =
      !text.empty() && std::string("=+-@\t\r").find(text[0]) != std::string::npos;
  const std::string shown = is_formula ? "'" + text : text;
  if (shown.find_first_of(",\"\r\n") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (const char character : shown) quoted.append(character == '"' ? 2 : 1, character);
  return quoted + '"';
}

// Joins fields that are quoted already into a line, without its end: writers for spreadsheets end
// lines with "\r\n", others with "\n".
inline std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (size_t k = 0; k < fields.size(); ++k) {
    if (k > 0) line += ',';
    line += fields[k];
  }
  return line;
}

}  // namespace flightdeck
