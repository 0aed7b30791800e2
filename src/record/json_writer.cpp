// SPDX-License-Identifier: MIT
#include "record/json_writer.h"

#include <charconv>
#include <cmath>
#include <cstdio>

#include "base/exact_text.h"
#include "record/text.h"

namespace flightdeck::record {
namespace {

bool is_plain(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return byte >= 0x20 && byte < 0x7f && character != '"' && character != '\\';
}

void append_escaped(std::string& out, unsigned byte) {
  if (byte == '"' || byte == '\\') {
    out += '\\';
    out += static_cast<char>(byte);
  } else if (byte == '\n') {
    out += "\\n";
  } else {
    char text[7];
    std::snprintf(text, sizeof text, "\\u%04x", byte);
    out += text;
  }
}

// Appends a text of valid UTF-8 and escapes what has to be.
void append_text(std::string& out, const std::string& valid) {
  for (size_t i = 0; i < valid.size(); ++i) {
    const auto byte = static_cast<unsigned char>(valid[i]);
    const auto next = static_cast<unsigned char>(i + 1 < valid.size() ? valid[i + 1] : 0);
    if (byte == 0xc2 && next < 0xa0) {  // U+0080 to U+009F, control characters of two bytes
      append_escaped(out, next);
      ++i;
    } else if (is_plain(valid[i]) || byte >= 0x80) {
      out += valid[i];
    } else {
      append_escaped(out, byte);
    }
  }
}

void append_json_string(std::string& out, const std::string& text) {
  out += '"';
  size_t plain = 0;
  while (plain < text.size() && is_plain(text[plain])) ++plain;
  if (plain == text.size()) {
    out += text;
  } else {
    append_text(out, valid_utf8(text));
  }
  out += '"';
}

}  // namespace

std::string json_string(const std::string& text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

void JsonWriter::separate() {
  if (!is_first_) text_ += ',';
  is_first_ = false;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  is_first_ = true;
}

void JsonWriter::close(char bracket) {
  text_ += bracket;
  is_first_ = false;
}

void JsonWriter::key(const char* name) {
  separate();
  append_json_string(text_, name);
  text_ += ':';
  is_first_ = true;
}

void JsonWriter::value(const std::string& text) {
  separate();
  append_json_string(text_, text);
}

void JsonWriter::value(int64_t number) {
  separate();
  char digits[24];
  text_.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

void JsonWriter::value(double number) {
  separate();
  const bool is_word = !std::isfinite(number);
  if (is_word) text_ += '"';
  append_exact_text(text_, number);
  if (is_word) text_ += '"';
}

void JsonWriter::value(bool truth) {
  separate();
  text_ += truth ? "true" : "false";
}

}  // namespace flightdeck::record
