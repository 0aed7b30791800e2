// SPDX-License-Identifier: MIT
#include "record/text.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace flightdeck::record {

namespace {

// The length of the UTF-8 character at `position`; 0 if there is none.
size_t character_size(const std::string& text, size_t position) {
  const auto byte = [&](size_t i) -> uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const uint32_t first = byte(position);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  uint32_t code = first & (0xff >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    const uint32_t next = byte(position + i);
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6 | (next & 0x3f);
  }
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  const bool is_too_long = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  return is_surrogate || is_too_long || code > 0x10ffff ? 0 : size;
}

std::string escape(unsigned char byte) {
  if (byte == '"') return "\\\"";
  if (byte == '\\') return "\\\\";
  if (byte == '\n') return "\\n";
  char text[7];
  std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned>(byte));
  return text;
}

}  // namespace

std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char digits[32];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  return std::string(digits, result.ptr);
}

std::string json_number(double value) {
  return std::isfinite(value) ? number_text(value) : "\"" + number_text(value) + "\"";
}

std::string valid_utf8(const std::string& text) {
  std::string valid;
  for (size_t i = 0; i < text.size();) {
    const size_t size = character_size(text, i);
    if (size == 0) {
      valid += "\xef\xbf\xbd";
    } else {
      valid.append(text, i, size);
    }
    i += size == 0 ? 1 : size;
  }
  return valid;
}

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char character : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte < 0x20 || byte == '"' || byte == '\\') {
      out += escape(byte);
    } else {
      out += character;
    }
  }
  return out + '"';
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char character : text) out.append(character == '"' ? 2 : 1, character);
  return out + '"';
}

}  // namespace flightdeck::record
