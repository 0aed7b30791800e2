// SPDX-License-Identifier: MIT
// Whole files, read at once; base/whole_file.h writes them.
#pragma once

#include <string>

namespace flightdeck::study {

// Throws std::runtime_error, naming the file and why. Refuses what is no plain file.
std::string read_file(const std::string& path);

}  // namespace flightdeck::study
