// SPDX-License-Identifier: MIT
// Named settings of quantities: one way to give them from C++, the command line and Python, and to
// list what there is.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace flightdeck {

/// A setting as text; converts from what one would write in code.
struct SettingText {
  SettingText(const char* characters) : text(characters) {}
  SettingText(std::string characters) : text(std::move(characters)) {}
  SettingText(int number) : text(std::to_string(number)) {}
  SettingText(int64_t number) : text(std::to_string(number)) {}
  SettingText(double number);  // exact: it reads back as the same number
  SettingText(bool truth) : text(truth ? "true" : "false") {}

  std::string text;
};

/// What a setting is, for lists and help.
struct SettingInfo {
  std::string name;
  std::string default_text;
  std::string summary;
};

/// Settings that were given, and the declarations of those that are read. Each reader declares a
/// setting with its default and its meaning; what was given but never declared is an error.
class Settings {
 public:
  Settings() = default;
  Settings(std::initializer_list<std::pair<const std::string, SettingText>> given);
  /// "bins=50,low=-1"; throws if it has no such form.
  static Settings parse(const std::string& text);

  void set(const std::string& name, const SettingText& value) { given_[name] = value.text; }

  // Throw, naming `owner`, the setting and its text, where the text is not of the kind or below the
  // lowest value allowed.
  int64_t integer(const std::string& name,
                  int64_t fallback,
                  const char* summary,
                  int64_t lowest = 0);
  double number(const std::string& name, double fallback, const char* summary);
  bool flag(const std::string& name, bool fallback, const char* summary);
  /// One of `choices`.
  std::string choice(const std::string& name,
                     const std::vector<std::string>& choices,
                     const char* summary);  ///< the first one is the default

  const std::vector<SettingInfo>& declared() const { return declared_; }
  /// Throws if something was given that no one declared.
  void check_all_known() const;
  void set_owner(std::string owner) { owner_ = std::move(owner); }
  /// What was given, as "name=value,name=value".
  std::string text() const;

 private:
  const std::string* find(const std::string& name, std::string default_text, const char* summary);

  std::string owner_ = "settings";
  std::map<std::string, std::string> given_;
  std::vector<SettingInfo> declared_;
};

}  // namespace flightdeck
