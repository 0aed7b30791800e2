// SPDX-License-Identifier: MIT
// What can be done next, as commands that a shell takes as they are, with whole paths: named at
// every ending.
#pragma once

#include <string>
#include <vector>

namespace flightdeck::cli {

// Writes "flightdeck show '/home/me/my runs/first'": this program as it was called, and a folder,
// which may be empty.
std::string command_for(const std::string& command, const std::string& folder);

// Names commands after a run into `folder`; to go on with it comes first where that is possible.
std::vector<std::string> commands_after_run(const std::string& folder, bool can_go_on);
// Names commands after a study; to go on with it comes first where runs are left.
std::vector<std::string> commands_after_study(const std::string& folder, bool can_go_on);

// Writes one line each, the first with the label "next".
std::string next_lines(const std::vector<std::string>& commands);

}  // namespace flightdeck::cli
