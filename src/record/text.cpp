// SPDX-License-Identifier: MIT
#include "record/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace flightdeck::record {

namespace {

// Returns the length of the UTF-8 character at `position`; 0 if there is none.
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

// Returns the character's number, U+FFFD for a byte that begins none.
uint32_t code_point(const std::string& text, size_t position) {
  const size_t size = character_size(text, position);
  const auto first = static_cast<unsigned char>(text[position]);
  if (size <= 1) return size == 0 ? 0xfffd : first;
  uint32_t code = first & (0xffU >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[position + i]) & 0x3f);
  }
  return code;
}

// Returns true for what a terminal obeys instead of showing it: control characters, and those that
// turn the direction of writing or hide.
bool is_command(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

std::string shown_code(uint32_t code) {
  char text[12];
  std::snprintf(text, sizeof text, code < 0x100 ? "\\x%02x" : "\\u%04x", code);
  return text;
}

}  // namespace

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

std::string printable(const std::string& text, Lines lines) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t size = std::max<size_t>(1, character_size(text, i));
    const uint32_t code = code_point(text, i);
    const bool is_kept = code == '\n' && lines == Lines::kKept;
    if (!is_kept && is_command(code)) {
      out += shown_code(code);
    } else if (character_size(text, i) == 0) {
      out += shown_code(static_cast<unsigned char>(text[i]));
    } else {
      out.append(text, i, size);
    }
    i += size;
  }
  return out;
}

}  // namespace flightdeck::record
