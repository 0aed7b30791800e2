// SPDX-License-Identifier: MIT
// The RUN argument of the commands that read a record.
#pragma once

#include <string>

#include "flightdeck/record.h"

namespace flightdeck::cli {

// Throws UsageError, naming runs that are near, if the folder holds none.
void check_run(const std::string& command, const std::string& folder);
// Reads the run, after the same check.
RunReader open_run(const std::string& command, const std::string& folder);

}  // namespace flightdeck::cli
