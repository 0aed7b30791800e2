// SPDX-License-Identifier: MIT
#include "cli/text/json.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "record/text.h"

namespace flightdeck::cli {

std::string json_string(const std::string& text) { return record::json_string(text); }

std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  return digits;
}

std::string json_exact(double value) {
  if (!std::isfinite(value)) return "null";
  char digits[32];
  for (int precision = 6; precision <= 17; ++precision) {
    std::snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (std::strtod(digits, nullptr) == value) break;
  }
  return digits;
}

std::string json_array(const std::vector<std::string>& elements) {
  std::string out;
  for (const std::string& element : elements) out += (out.empty() ? "" : ", ") + element;
  return "[" + out + "]";
}

std::string json_names(const std::vector<std::string>& names) {
  std::vector<std::string> elements;
  for (const std::string& name : names) elements.push_back(json_string(name));
  return json_array(elements);
}

JsonObject& JsonObject::field(const std::string& key, const std::string& text) {
  return raw(key, json_string(text));
}

JsonObject& JsonObject::field(const std::string& key, const char* text) {
  return raw(key, json_string(text));
}

JsonObject& JsonObject::field(const std::string& key, double number) {
  return raw(key, json_number(number));
}

JsonObject& JsonObject::field(const std::string& key, int64_t number) {
  return raw(key, std::to_string(number));
}

JsonObject& JsonObject::field(const std::string& key, int number) {
  return raw(key, std::to_string(number));
}

JsonObject& JsonObject::field(const std::string& key, bool truth) {
  return raw(key, truth ? "true" : "false");
}

JsonObject& JsonObject::raw(const std::string& key, const std::string& json) {
  fields_ += (fields_.empty() ? "" : ", ") + json_string(key) + ": " + json;
  return *this;
}

std::string JsonObject::text() const { return "{" + fields_ + "}"; }

}  // namespace flightdeck::cli
