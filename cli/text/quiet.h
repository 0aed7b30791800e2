// SPDX-License-Identifier: MIT
// Whether the tool was asked to be quiet: --quiet, which every command has.
#pragma once

namespace flightdeck::cli {

// Set once, by the command line, before a command does anything.
void be_quiet();

// True: no progress and no remarks are printed. What was asked for, warnings and errors are.
bool is_quiet();

}  // namespace flightdeck::cli
