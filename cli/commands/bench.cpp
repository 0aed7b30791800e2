// SPDX-License-Identifier: MIT
// flightdeck bench: measures Flightdeck itself; the words behind it are in cli/bench/commands.
#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace flightdeck::cli {
namespace {

void add_bench(CLI::App* command) {
  command->require_subcommand(1);
  add_commands(*command, all_bench_commands());
}

}  // namespace

Command bench_command() {
  return {"bench", "Measure Flightdeck on this machine.", 150, &add_bench};
}

}  // namespace flightdeck::cli
