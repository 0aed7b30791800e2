// SPDX-License-Identifier: MIT
// Configuration files of `flightdeck run` as words of its command line.
#pragma once

#include <string>
#include <vector>

namespace flightdeck::cli {

// One key of a file. A value that is a table has its names: "beta2=0.99".
struct ConfigEntry {
  std::string key;
  std::vector<std::string> values;
};

// Reads a TOML file. Throws UsageError, with the line, if it is none or holds what no option could.
std::vector<ConfigEntry> read_config(const std::string& path);

// Returns the words of a command line, the program first, with what the file of --config says in
// the place of that option. What the words say themselves is left out, and so is what would
// contradict it: steps against epochs, hyperparameters of another optimizer. The words stay as they
// are if they start no run with a file. Throws UsageError, naming the nearest, if a key is no
// option.
std::vector<std::string> with_config(std::vector<std::string> words);

}  // namespace flightdeck::cli
