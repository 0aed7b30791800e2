// SPDX-License-Identifier: MIT
// The library's words in those of the command line, where it has an option for what is meant.
#pragma once

#include <string>

namespace flightdeck::cli {

// Turns "set options.batch_norm to kSplitGradient" into "give --batch-norm split" and the like.
std::string in_words_of_the_tool(std::string text);

}  // namespace flightdeck::cli
