// SPDX-License-Identifier: MIT
// What measurements call the data they were made on.
#pragma once

#include <string>

#include "suite/data_set.h"

namespace flightdeck::cli {

// Returns "real" if they are read from files, "synthetic" if they stand in for files, "generated"
// if the problem's data set is never read from any.
std::string data_kind(const std::string& problem, const suite::DataOptions& options);

}  // namespace flightdeck::cli
