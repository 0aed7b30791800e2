// SPDX-License-Identifier: MIT
#include "study/files.h"

#include "src/base/limits.h"
#include "src/base/plain_file.h"

namespace flightdeck::study {

std::string read_file(const std::string& path) { return read_plain(path, limits::kStudyFileBytes); }

}  // namespace flightdeck::study
