// SPDX-License-Identifier: MIT
// What a series of a record is called wherever it has one name.
#pragma once

#include <string>

namespace flightdeck {

// Returns "grad_norm", "alpha/step", "grad_norm@conv1.weight" or "alpha/step@conv1.weight".
inline std::string series_name(const std::string& quantity,
                               const std::string& field,
                               const std::string& group = "") {
  return quantity + (field.empty() ? "" : "/" + field) + (group.empty() ? "" : "@" + group);
}

}  // namespace flightdeck
