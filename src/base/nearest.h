// SPDX-License-Identifier: MIT
// Suggestions for names that do not exist.
#pragma once

#include <string>
#include <vector>

namespace flightdeck {

// Returns the name closest to `wrong` in insertions, deletions, replacements and swaps of
// neighbours; empty if none is close.
std::string nearest_name(const std::string& wrong, const std::vector<std::string>& names);

}  // namespace flightdeck
