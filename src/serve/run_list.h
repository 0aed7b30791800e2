// SPDX-License-Identifier: MIT
// The runs under a folder as of now, without a server: each is looked at once, for as long as the
// server would.
#pragma once

#include <string>
#include <vector>

#include "serve/wire.h"

namespace flightdeck::serve {

// By id; runs that cannot be read are among them, with the error. Throws std::invalid_argument if
// there is no such folder.
std::vector<wire::RunSummary> runs_in(const std::string& folder);

// True if a run lies there, which need not be readable.
bool has_runs(const std::string& folder);

}  // namespace flightdeck::serve
