// SPDX-License-Identifier: MIT
#include "study/files.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace flightdeck::study {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  // An empty file sets failbit on the output alone.
  if (!file || (content << file.rdbuf(), file.bad())) {
    throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
  }
  return content.str();
}

}  // namespace flightdeck::study
