// SPDX-License-Identifier: MIT
// Whole files, read and replaced at once.
#pragma once

#include <string>

namespace flightdeck::study {

/// Throws std::runtime_error, naming the file and why: also what is no plain file is not read.
std::string read_file(const std::string& path);

/// Makes the folder if it is missing. Readers see the old content or the new one, never a part.
void replace_file(const std::string& path, const std::string& content);

}  // namespace flightdeck::study
