// SPDX-License-Identifier: MIT
// Writes one JSON document from front to back: the export of a run and the wire of the dashboard,
// which hold millions of numbers. Everything else is written by nlohmann-json
// (docs/decisions/0051-two-json-writers.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace flightdeck::record {

// Returns a quoted JSON string. Bytes that are no UTF-8 become U+FFFD; control characters are
// escaped, so that a terminal shows them.
std::string json_string(const std::string& text);

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(const char* name);

  void value(const std::string& text);
  void value(int64_t number);
  // Writes a number. NaN and infinities become the strings "NaN", "Infinity", "-Infinity".
  void value(double number);
  void value(bool truth);
  void value(const char* text) = delete;  // would be taken for a truth value

  template <typename T>
  void value(const std::vector<T>& elements) {
    begin_array();
    for (const T& element : elements) value(element);
    end_array();
  }
  template <typename T>
  void value(const std::map<std::string, T>& entries) {
    begin_object();
    for (const auto& [name, entry] : entries) {
      key(name.c_str());
      value(entry);
    }
    end_object();
  }

  // Writes a key with its value.
  template <typename T>
  void field(const char* name, const T& content) {
    key(name);
    value(content);
  }

  std::string take() { return std::move(text_); }

 private:
  void separate();
  void open(char bracket);
  void close(char bracket);

  std::string text_;
  bool is_first_ = true;  // of its object or array, or behind a key
};

}  // namespace flightdeck::record
