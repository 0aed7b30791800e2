// SPDX-License-Identifier: MIT
// Short lists of names, as they are told to people.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace flightdeck {

// Joins words as "a, b, c".
inline std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

inline void add_once(std::vector<std::string>& words, const std::string& word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
}

}  // namespace flightdeck
