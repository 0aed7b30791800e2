// SPDX-License-Identifier: MIT
// What `flightdeck analyze` prints.
#pragma once

#include <string>
#include <vector>

#include "study/analysis/analysis.h"

namespace flightdeck::cli {

// Writes for people: what was compared, warnings, the tables that matter most, where the rest is,
// and the commands to go on with.
std::string analysis_text(const study::Analysis& analysis,
                          const std::vector<std::string>& files,
                          const std::vector<std::string>& next);

// Writes one object for programs, in one line.
std::string analysis_json(const study::Analysis& analysis,
                          const std::vector<std::string>& files,
                          const std::vector<std::string>& next);

}  // namespace flightdeck::cli
