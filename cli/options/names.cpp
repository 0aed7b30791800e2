// SPDX-License-Identifier: MIT
#include "cli/options/names.h"

#include <algorithm>

#include "base/nearest.h"

namespace flightdeck::cli {

void check_name(const std::string& kind,
                const std::string& name,
                const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  const std::string near = nearest_name(name, names);
  throw UsageError("there is no " + kind + " '" + name + "'; " +
                   (near.empty() ? "" : "did you mean '" + near + "'? ") + "choose one of " +
                   joined(names));
}

}  // namespace flightdeck::cli
