// SPDX-License-Identifier: MIT
// The command-line tool as a library (flightdeck::tool), for programs that are a `flightdeck` with
// entries of their own.
#pragma once

namespace flightdeck {

/// Parses the words, runs one command and prints; returns the exit status: 0 for success, 1 for a
/// failure at run time, 2 for wrong usage, 128 + its number after a signal that was heeded. Call it
/// once, first of all that the program does but for registering entries: to set the environment
/// right it may start the program again with the same words, and `tune` starts it for every run.
///
/// A program that is no executable file of its own (a script) names the executable that starts it:
/// `program` with argv is then what is started.
int tool_main(int argc, char** argv, const char* program = nullptr);

}  // namespace flightdeck
