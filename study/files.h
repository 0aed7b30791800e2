// SPDX-License-Identifier: MIT
// Whole files, read at once; base/whole_file.h writes them.
#pragma once

#include <string>

namespace flightdeck::study {

// Throws std::runtime_error, naming the file and why: also what is no plain file is not read.
std::string read_file(const std::string& path);

}  // namespace flightdeck::study
