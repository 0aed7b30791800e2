// SPDX-License-Identifier: MIT
// Commands: words of the command line and what they do. Entries live in commands/ and, below
// `flightdeck bench`, in bench/commands/, one file each.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace flightdeck::cli {

struct Command {
  std::string word, summary;
  int place;                          // in the help: the smallest stands first
  void (*add_to)(CLI::App* command);  // adds options, footer and the callback that does it
};

// Returns them in the order of the help.
const std::vector<Command>& all_commands();
// Returns the words behind `flightdeck bench`.
const std::vector<Command>& all_bench_commands();

void add_commands(CLI::App& parent, const std::vector<Command>& commands);

// Adds -q, --quiet to `command`, or to all below it that do something themselves.
void add_quiet(CLI::App& command);

}  // namespace flightdeck::cli
