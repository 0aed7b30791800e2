// SPDX-License-Identifier: MIT
// Names given on the command line: lists of them, and the error on one that does not exist.
#pragma once

#include <string>
#include <vector>

#include "base/words.h"
#include "cli/options/usage_error.h"

namespace flightdeck::cli {

template <typename Entries>
std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

// Throws UsageError, suggesting the nearest and listing all, if `name` is none of `names`. `kind`
// is what they are: "problem".
void check_name(const std::string& kind,
                const std::string& name,
                const std::vector<std::string>& names);

}  // namespace flightdeck::cli
