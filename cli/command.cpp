// SPDX-License-Identifier: MIT
#include "cli/command.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/text/quiet.h"

namespace flightdeck::cli {

#define FLIGHTDECK_ENTRY(name) Command name##_command();
#include "flightdeck/commands.inc"
#undef FLIGHTDECK_ENTRY
#define FLIGHTDECK_ENTRY(name) Command bench_##name##_command();
#include "flightdeck/bench_commands.inc"
#undef FLIGHTDECK_ENTRY

namespace {

std::vector<Command> by_place(std::vector<Command> commands) {
  std::stable_sort(commands.begin(), commands.end(), [](const Command& a, const Command& b) {
    return a.place < b.place;
  });
  return commands;
}

}  // namespace

const std::vector<Command>& all_commands() {
  static const std::vector<Command> table = by_place({
#define FLIGHTDECK_ENTRY(name) name##_command(),
#include "flightdeck/commands.inc"
#undef FLIGHTDECK_ENTRY
  });
  return table;
}

const std::vector<Command>& all_bench_commands() {
  static const std::vector<Command> table = by_place({
#define FLIGHTDECK_ENTRY(name) bench_##name##_command(),
#include "flightdeck/bench_commands.inc"
#undef FLIGHTDECK_ENTRY
  });
  return table;
}

void add_commands(CLI::App& parent, const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    command.add_to(parent.add_subcommand(command.word, command.summary));
  }
}

void add_quiet(CLI::App& command) {
  const std::vector<CLI::App*> below = command.get_subcommands({});
  for (CLI::App* one : below) add_quiet(*one);
  if (!below.empty()) return;
  command
      .add_flag_callback(
          "-q,--quiet", &be_quiet, "No progress, no remarks: only what was asked for, and errors")
      ->group("Output");
}

}  // namespace flightdeck::cli
