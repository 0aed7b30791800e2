// SPDX-License-Identifier: MIT
// Scripts by which shells complete the tool's words.
#pragma once

#include <string>

#include "cli/reference/reference.h"

namespace flightdeck::cli {

// Returns a script to be sourced, or put where the shell looks for such files. `program` is what is
// completed.
std::string bash_completion(const CommandReference& tool, const std::string& program);
std::string zsh_completion(const CommandReference& tool, const std::string& program);
std::string fish_completion(const CommandReference& tool, const std::string& program);

}  // namespace flightdeck::cli
