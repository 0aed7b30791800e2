// SPDX-License-Identifier: MIT
// Ctrl-C and SIGTERM as a wish to end: the first is noted, the second kills as usual.
#pragma once

namespace flightdeck::cli {

/// From here on the first SIGINT or SIGTERM only sets a mark.
void note_interrupts();

/// True once one has come.
bool is_interrupted();

}  // namespace flightdeck::cli
