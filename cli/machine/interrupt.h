// SPDX-License-Identifier: MIT
// Ctrl-C and SIGTERM as a wish to end: the first is noted, the second kills as usual.
#pragma once

namespace flightdeck::cli {

// Lets the first SIGINT or SIGTERM from here on only set a mark.
void note_interrupts();

// Returns true once one has come.
bool is_interrupted();

// Ends the program after an orderly ending that a signal asked for. Shells and schedulers know the
// status: 130 after Ctrl-C, 143 after SIGTERM.
struct Interrupted {
  explicit Interrupted(int signal) : exit_status(128 + signal) {}
  int exit_status;
};

// Returns what to throw for the signal that has come.
Interrupted interruption();

}  // namespace flightdeck::cli
