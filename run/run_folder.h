// SPDX-License-Identifier: MIT
// Folders of runs and studies that were not told where to be.
#pragma once

#include <string>

namespace flightdeck::run {

/// Makes a folder that nobody else has, and those above it: `stem`, or with -2, -3, ... behind it
/// where others were faster. Throws if it cannot be made; `command` is how the message begins.
std::string make_own_folder(const std::string& command, const std::string& stem);

}  // namespace flightdeck::run
