// SPDX-License-Identifier: MIT
// A competitor of an analysis is an optimizer, or its published baseline.
#pragma once

#include <string>

namespace flightdeck::study {

inline const std::string kBaselineSuffix = " (baseline)";

inline bool is_baseline(const std::string& competitor) {
  const size_t length = kBaselineSuffix.size();
  return competitor.size() > length &&
         competitor.compare(competitor.size() - length, length, kBaselineSuffix) == 0;
}

inline std::string optimizer_of(const std::string& competitor) {
  return is_baseline(competitor) ? competitor.substr(0, competitor.size() - kBaselineSuffix.size())
                                 : competitor;
}

}  // namespace flightdeck::study
