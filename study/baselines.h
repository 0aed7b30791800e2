// SPDX-License-Identifier: MIT
// Our own runs that come with the program, to compare others with.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "study/outcome.h"

namespace flightdeck::study {

// Returns the files of baselines/, as they were when the program was built.
const std::vector<std::string_view>& baseline_files();

// Returns the outcomes in `files` (one to a line) whose problem is one of `problems`.
std::vector<Outcome> baselines_of(const std::set<std::string>& problems,
                                  const std::vector<std::string_view>& files = baseline_files());

}  // namespace flightdeck::study
