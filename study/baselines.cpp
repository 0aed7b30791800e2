// SPDX-License-Identifier: MIT
#include "study/baselines.h"

#include <algorithm>

namespace flightdeck::study {

std::vector<Outcome> baselines_of(const std::set<std::string>& problems,
                                  const std::vector<std::string_view>& files) {
  std::vector<Outcome> found;
  for (const std::string_view file : files) {
    for (size_t begin = 0; begin < file.size();) {
      const size_t end = std::min(file.find('\n', begin), file.size());
      if (end > begin) {
        Outcome outcome = outcome_from_json(std::string(file.substr(begin, end - begin)));
        if (problems.count(outcome.setting.problem) != 0) found.push_back(std::move(outcome));
      }
      begin = end + 1;
    }
  }
  return found;
}

}  // namespace flightdeck::study
