// SPDX-License-Identifier: MIT
// The name of this machine, as records tell where they were made.
#pragma once

#include <string>
#include <unistd.h>

namespace flightdeck {

// Returns an empty text where the name is not known.
inline std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace flightdeck
