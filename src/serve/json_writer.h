// SPDX-License-Identifier: MIT
// Writes one JSON document from front to back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace flightdeck::serve {

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(const char* name);

  void value(const std::string& text);
  void value(int64_t number);
  /// NaN and infinities become the strings "NaN", "Infinity", "-Infinity".
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

  std::string take() { return std::move(text_); }

 private:
  void separate();
  void open(char bracket);
  void close(char bracket);

  std::string text_;
  bool is_first_ = true;  // of its object or array, or behind a key
};

}  // namespace flightdeck::serve
