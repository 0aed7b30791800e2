// SPDX-License-Identifier: MIT
// Puts the analysis into a folder.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "study/analysis/analysis.h"

namespace flightdeck::study {

// Returns "html", "csv", "latex".
const std::vector<std::string>& analysis_formats();

// Returns the files that were written, by path. Replaces those of the same name. Throws if it
// cannot.
std::vector<std::string> write_analysis(const Analysis& analysis,
                                        const std::string& folder,
                                        const std::set<std::string>& formats);

}  // namespace flightdeck::study
