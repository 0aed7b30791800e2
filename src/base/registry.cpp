// SPDX-License-Identifier: MIT
#include "base/registry.h"

#include <algorithm>
#include <cctype>

namespace flightdeck {
namespace {

std::string in_brackets(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

}  // namespace

std::string fault_of_name(const std::string& name) {
  if (name.empty()) return "the name is empty; give it one";
  const bool is_word = std::all_of(name.begin(), name.end(), [](unsigned char letter) {
    return std::isalnum(letter) || letter == '_';
  });
  if (is_word) return "";
  return "the name '" + name + "' has other characters than letters, digits and underscores";
}

std::string taken_name(const std::string& kind,
                       const std::string& name,
                       const std::string& what_is_there,
                       const std::string& what_is_new) {
  return "there is a " + kind + " '" + name + "' already" + in_brackets(what_is_there) +
         ", so yours" + in_brackets(what_is_new) + " needs another name";
}

}  // namespace flightdeck
