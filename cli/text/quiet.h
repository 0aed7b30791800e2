// SPDX-License-Identifier: MIT
// Whether the tool was asked to be quiet: --quiet, which every command has.
#pragma once

namespace flightdeck::cli {

// Is called once, by the command line, before a command does anything.
void be_quiet();

// Returns true if no progress and no remarks are to be printed. What was asked for, warnings and
// errors are.
bool is_quiet();

}  // namespace flightdeck::cli
