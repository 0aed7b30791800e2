// SPDX-License-Identifier: MIT
#include "flightdeck/grouping.h"

#include <regex>
#include <sstream>

#include <c10/util/Exception.h>

namespace flightdeck {

Grouping Grouping::by_module(int64_t levels) {
  TORCH_CHECK_VALUE(levels >= 0, "grouping: levels is ", levels, "; give 0 (all) or more");
  Grouping grouping(Kind::kModule);
  grouping.levels_ = levels;
  return grouping;
}

Grouping Grouping::by_pattern(std::vector<std::string> patterns) {
  TORCH_CHECK_VALUE(!patterns.empty(), "grouping: there is no pattern; give at least one");
  for (const std::string& pattern : patterns) {
    try {
      std::regex compiled(pattern);
    } catch (const std::regex_error& error) {
      TORCH_CHECK_VALUE(
          false, "grouping: '", pattern, "' is no regular expression (", error.what(), ")");
    }
  }
  Grouping grouping(Kind::kPattern);
  grouping.patterns_ = std::move(patterns);
  return grouping;
}

Grouping Grouping::parse(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (text == "whole") return whole();
  if (text == "automatic") return automatic();
  if (text == "parameter") return by_parameter();
  if (text == "type") return by_layer_type();
  if (text == "depth") return by_depth();
  if (text == "module") return by_module();
  if (kind == "module" && !rest.empty() &&
      rest.find_first_not_of("0123456789") == std::string::npos) {
    return by_module(std::stoll(rest));
  }
  if (kind == "pattern" && !rest.empty()) {
    std::vector<std::string> patterns;
    std::istringstream items(rest);
    for (std::string item; std::getline(items, item, ',');) {
      if (!item.empty()) patterns.push_back(item);
    }
    return by_pattern(std::move(patterns));
  }
  TORCH_CHECK_VALUE(false,
                    "grouping: '",
                    text,
                    "' is not a grouping; choose one of whole, automatic, parameter, module, "
                    "module:LEVELS, type, depth, pattern:REGEX,REGEX");
}

std::string Grouping::text() const {
  switch (kind_) {
    case Kind::kWhole:
      return "whole";
    case Kind::kAutomatic:
      return "automatic";
    case Kind::kParameter:
      return "parameter";
    case Kind::kModule:
      return levels_ == 0 ? "module" : "module:" + std::to_string(levels_);
    case Kind::kLayerType:
      return "type";
    case Kind::kDepth:
      return "depth";
    case Kind::kPattern:
      break;
  }
  std::string text;
  for (const std::string& pattern : patterns_) text += (text.empty() ? "pattern:" : ",") + pattern;
  return text;
}

}  // namespace flightdeck
