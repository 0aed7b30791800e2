// SPDX-License-Identifier: MIT
// Holds what is on disk against what was published.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "suite/data_set.h"

namespace flightdeck::suite {

struct FileCheck {
  std::string path;
  int64_t bytes = 0;           ///< found, uncompressed
  int64_t expected_bytes = 0;  ///< 0: not known
  std::string sha256;          ///< found, of the uncompressed bytes; empty: not computed
  bool has_known_hash = false;
  bool is_good = true;
};

struct DataCheck {
  DataDescription description;
  std::vector<FileCheck> files;  ///< those that are the same everywhere
  int64_t train_samples = 0;     ///< found; with those for validation
  int64_t test_samples = 0;
  std::vector<std::string> faults;  ///< empty: nothing is wrong
  bool is_good() const { return description.is_found && faults.empty(); }
};

/// Reads everything there is of the set; `folder` as in `describe_data`. A set that is not there
/// has a fault that says so; one that is generated has none. Throws only on an unknown name.
DataCheck check_data(const std::string& name, const std::string& folder = "");

}  // namespace flightdeck::suite
