// SPDX-License-Identifier: MIT
#include "study/json_text.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "src/base/limits.h"

namespace flightdeck::study {
namespace {

// Returns how deeply arrays and objects are nested; leaves text that is no JSON to the parser.
int64_t depth_of(const std::string& text) {
  int64_t depth = 0, deepest = 0;
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char character = text[i];
    if (is_quoted && character == '\\') {
      ++i;
    } else if (character == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted) {
      depth += (character == '[' || character == '{') - (character == ']' || character == '}');
      deepest = std::max(deepest, depth);
    }
  }
  return deepest;
}

[[noreturn]] void refuse(const char* key, const Json& value, const char* wanted) {
  throw std::runtime_error(std::string(key) + " is " + value.dump().substr(0, 60) + ", not " +
                           wanted);
}

}  // namespace

Json parsed(const std::string& text) {
  if (static_cast<int64_t>(text.size()) > limits::kStudyLineBytes) {
    throw std::runtime_error("it has " + std::to_string(text.size()) + " bytes, more than " +
                             std::to_string(limits::kStudyLineBytes));
  }
  if (const int64_t depth = depth_of(text); depth > limits::kJsonDepth) {
    throw std::runtime_error("it is nested " + std::to_string(depth) + " deep, more than " +
                             std::to_string(limits::kJsonDepth));
  }
  return Json::parse(text);
}

int64_t integer_at(const Json& json, const char* key) {
  const Json& value = json.at(key);
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const bool is_too_large = value.is_number_unsigned() && value.get<uint64_t>() > kMost;
  if (!value.is_number_integer() || is_too_large) refuse(key, value, "a whole number below 2^63");
  return value.get<int64_t>();
}

uint64_t natural_at(const Json& json, const char* key) {
  const Json& value = json.at(key);
  const bool is_negative =
      value.is_number_integer() && !value.is_number_unsigned() && value.get<int64_t>() < 0;
  if (!value.is_number_integer() || is_negative) refuse(key, value, "a whole number from 0 on");
  return value.get<uint64_t>();
}

}  // namespace flightdeck::study
