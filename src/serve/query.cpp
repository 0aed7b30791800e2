// SPDX-License-Identifier: MIT
#include "serve/query.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace flightdeck::serve {

namespace {

// Quotes as much of a stranger's text as an error message needs.
std::string quoted(const std::string& text) {
  constexpr size_t kShown = 60;
  return "'" + (text.size() <= kShown ? text : text.substr(0, kShown) + "...") + "'";
}

[[noreturn]] void refuse(const std::string& name,
                         const std::string& value,
                         const std::string& accepted) {
  throw Refused(400, "parameter " + name + " is " + quoted(value), "give " + accepted);
}

std::optional<int64_t> integer_of(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string bound(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) return "-2^63";
  if (value == std::numeric_limits<int64_t>::max()) return "2^63-1";
  return std::to_string(value);
}

}  // namespace

Query::Query(const Request& request, std::initializer_list<const char*> known) {
  std::string names;
  for (const char* name : known) names += (names.empty() ? "" : ", ") + std::string(name);
  for (const auto& [name, value] : request.parameters) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Refused(400,
                    "there is no parameter " + quoted(name) + " at " + request.path,
                    names.empty() ? "give none" : "give some of: " + names);
    }
    if (!values_.emplace(name, value).second) {
      throw Refused(400, "parameter " + name + " comes twice", "give it once");
    }
  }
}

std::optional<std::string> Query::find(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

std::string Query::required(const std::string& name) const {
  const auto value = find(name);
  if (!value) throw Refused(400, "parameter " + name + " is missing", "give " + name + "=...");
  return *value;
}

int64_t Query::integer(const std::string& name,
                       int64_t otherwise,
                       int64_t low,
                       int64_t high) const {
  const auto text = find(name);
  if (!text) return otherwise;
  const auto value = integer_of(*text);
  if (!value || *value < low || *value > high) {
    refuse(name, *text, "an integer from " + bound(low) + " to " + bound(high));
  }
  return *value;
}

std::vector<int64_t> Query::ids(const std::string& name, size_t at_most) const {
  const std::string text = required(name);
  std::vector<int64_t> ids;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const auto id = integer_of(std::string_view(text).substr(begin, end - begin));
    if (!id) refuse(name, text, "ids of series separated by commas, as in 1,2,3");
    ids.push_back(*id);
    begin = end + 1;
  }
  if (ids.size() > at_most) {
    refuse(name, text, "at most " + std::to_string(at_most) + " ids");
  }
  return ids;
}

}  // namespace flightdeck::serve
