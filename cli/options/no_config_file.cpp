// SPDX-License-Identifier: MIT
// What stands in for config_file.cpp where toml++ is missing.
#include "cli/options/config_words.h"
#include "cli/options/usage_error.h"

namespace flightdeck::cli {

std::vector<ConfigEntry> read_config(const std::string& path) {
  throw UsageError("run: cannot read " + path +
                   ": this flightdeck was built without toml++; install it (Debian: "
                   "libtomlplusplus-dev), run cmake again and build");
}

}  // namespace flightdeck::cli
