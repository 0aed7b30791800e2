// SPDX-License-Identifier: MIT
// The runs of a folder as a table: what `flightdeck runs` and `flightdeck show FOLDER` print.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace flightdeck::cli {

struct RunsTableOptions {
  std::string folder = "runs";
  std::string sort = "start";     // one of sortable_columns()
  bool reverse = false;           // the best, newest or first of the alphabet comes last
  std::vector<std::string> tags;  // runs that have all of them
  bool archived = false;          // these too
  bool json = false;
};

std::vector<std::string> sortable_columns();

// Throws UsageError if there is no such folder or column.
void print_runs(const std::string& command, const RunsTableOptions& options);

}  // namespace flightdeck::cli
