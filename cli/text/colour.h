// SPDX-License-Identifier: MIT
// Colours on terminals that want them.
#pragma once

#include <string>

namespace flightdeck::cli {

enum class Colour { kRed = 31, kGreen = 32, kYellow = 33 };

// Returns false if it is no terminal, if TERM is "dumb" or if NO_COLOR is set
// (https://no-color.org).
bool has_colours(int file_descriptor);

// Returns `text` as it is where there are no colours.
std::string coloured(const std::string& text, Colour colour, int file_descriptor);

}  // namespace flightdeck::cli
