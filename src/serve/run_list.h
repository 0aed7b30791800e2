// SPDX-License-Identifier: MIT
// Lists the runs under a folder as of now, without a server. Each is looked at once, for as long as
// the server would.
#pragma once

#include <string>
#include <vector>

#include "serve/wire.h"

namespace flightdeck::serve {

// Returns the runs by id. Those that cannot be read are among them, with the error. Throws
// std::invalid_argument if there is no such folder.
std::vector<wire::RunSummary> runs_in(const std::string& folder);

// Returns true if a run lies there, which need not be readable.
bool has_runs(const std::string& folder);

}  // namespace flightdeck::serve
