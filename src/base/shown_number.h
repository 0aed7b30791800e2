// SPDX-License-Identifier: MIT
// Numbers in sentences for people.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>

namespace flightdeck {

// Writes four significant digits: "0.6931", "1.2e-05", "nan", "-inf".
inline std::string short_number(double value) {
  if (std::isnan(value)) return "nan";  // printf tells its sign
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.4g", value);
  return digits;
}

// Writes a share in [0, 1] as "51.3 %".
inline std::string percent(double share) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.1f %%", 100 * share);
  return digits;
}

}  // namespace flightdeck
