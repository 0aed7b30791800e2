// SPDX-License-Identifier: MIT
// The manual page of the tool.
#pragma once

#include <string>

#include "cli/reference/reference.h"

namespace flightdeck::cli {

// Returns troff with the man macros.
std::string manual_page(const CommandReference& tool, const std::string& program);

}  // namespace flightdeck::cli
