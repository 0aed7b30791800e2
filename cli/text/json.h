// SPDX-License-Identifier: MIT
// Writes JSON, one object or array a line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flightdeck::cli {

/// The text as a quoted JSON string.
std::string json_string(const std::string& text);

/// Six significant digits; null where JSON has no such number (NaN, infinity).
std::string json_number(double value);

/// Digits enough to read back the same number; null as above.
std::string json_exact(double value);

/// Elements that are JSON already.
std::string json_array(const std::vector<std::string>& elements);
/// An array of strings.
std::string json_names(const std::vector<std::string>& names);

/// Collects fields in the order given.
class JsonObject {
 public:
  JsonObject& field(const std::string& key, const std::string& text);
  JsonObject& field(const std::string& key, const char* text);
  JsonObject& field(const std::string& key, double number);
  JsonObject& field(const std::string& key, int64_t number);
  JsonObject& field(const std::string& key, int number);
  JsonObject& field(const std::string& key, bool truth);
  /// `json` is JSON already.
  JsonObject& raw(const std::string& key, const std::string& json);

  std::string text() const;

 private:
  std::string fields_;
};

}  // namespace flightdeck::cli
