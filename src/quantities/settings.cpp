// SPDX-License-Identifier: MIT
#include "flightdeck/settings.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include <c10/util/Exception.h>

#include "base/nearest.h"
#include "base/words.h"

namespace flightdeck {
namespace {

std::string text_of(double number) {
  for (int digits = 6; digits <= 17; ++digits) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, number);
    if (std::strtod(buffer, nullptr) == number) return buffer;
  }
  return std::to_string(number);
}

}  // namespace

SettingText::SettingText(double number) : text(text_of(number)) {}

Settings::Settings(std::initializer_list<std::pair<const std::string, SettingText>> given) {
  for (const auto& [name, value] : given) given_[name] = value.text;
}

Settings Settings::parse(const std::string& text) {
  Settings settings;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const size_t equals = item.find('=');
    TORCH_CHECK_VALUE(equals != std::string::npos && equals > 0,
                      "settings: '",
                      item,
                      "' is not of the form name=value");
    settings.set(item.substr(0, equals), item.substr(equals + 1));
  }
  return settings;
}

const std::string* Settings::find(const std::string& name,
                                  std::string default_text,
                                  const char* summary) {
  declared_.push_back({name, std::move(default_text), summary});
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

int64_t Settings::integer(const std::string& name,
                          int64_t fallback,
                          const char* summary,
                          int64_t lowest) {
  const std::string* text = find(name, std::to_string(fallback), summary);
  if (text == nullptr) return fallback;
  char* end = nullptr;
  const long long value = std::strtoll(text->c_str(), &end, 10);
  TORCH_CHECK_VALUE(!text->empty() && *end == '\0' && value >= lowest,
                    owner_,
                    ": ",
                    name,
                    " is '",
                    *text,
                    "'; give a whole number of at least ",
                    lowest);
  return value;
}

double Settings::number(const std::string& name, double fallback, const char* summary) {
  const std::string* text = find(name, text_of(fallback), summary);
  if (text == nullptr) return fallback;
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  TORCH_CHECK_VALUE(
      !text->empty() && *end == '\0', owner_, ": ", name, " is '", *text, "'; give a number");
  return value;
}

bool Settings::flag(const std::string& name, bool fallback, const char* summary) {
  const std::string* text = find(name, fallback ? "true" : "false", summary);
  if (text == nullptr) return fallback;
  TORCH_CHECK_VALUE(*text == "true" || *text == "false",
                    owner_,
                    ": ",
                    name,
                    " is '",
                    *text,
                    "'; give true or false");
  return *text == "true";
}

std::string Settings::choice(const std::string& name,
                             const std::vector<std::string>& choices,
                             const char* summary) {
  const std::string* text = find(name, choices.front(), summary);
  if (text == nullptr) return choices.front();
  TORCH_CHECK_VALUE(std::find(choices.begin(), choices.end(), *text) != choices.end(),
                    owner_,
                    ": ",
                    name,
                    " is '",
                    *text,
                    "'; choose one of ",
                    joined(choices));
  return *text;
}

void Settings::check_all_known() const {
  std::vector<std::string> names;
  for (const SettingInfo& info : declared_) names.push_back(info.name);
  for (const auto& [name, value] : given_) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string near = nearest_name(name, names);
    TORCH_CHECK_VALUE(false,
                      owner_,
                      ": there is no setting '",
                      name,
                      "'",
                      near.empty() ? "" : "; did you mean '" + near + "'?",
                      names.empty() ? "; it has none" : "; there are " + joined(names));
  }
}

std::string Settings::text() const {
  std::string text;
  for (const auto& [name, value] : given_) text += (text.empty() ? "" : ",") + name + "=" + value;
  return text;
}

}  // namespace flightdeck
