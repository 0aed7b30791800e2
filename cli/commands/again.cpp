// SPDX-License-Identifier: MIT
// flightdeck again: trains a recorded run anew, with other options where they are given.
#include <cstring>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>

#include "cli/command.h"
#include "cli/machine/environment.h"
#include "cli/options/recorded_run.h"
#include "cli/options/run_options.h"
#include "cli/options/usage_error.h"

namespace flightdeck::cli {
namespace {

struct AgainOptions {
  std::string run;
  RunArguments given;
};

// Returns every option that was given, as one word each time.
std::vector<std::string> option_words(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string name = "--" + option->get_lnames().front();
    for (const std::string& value : option->results()) words.push_back(name + "=" + value);
  }
  return words;
}

void repeat_run(const CLI::App& command, const AgainOptions& options) {
  open_run("again", options.run);
  const std::filesystem::path config = std::filesystem::path(options.run) / "config.toml";
  if (!std::filesystem::exists(config)) {
    throw UsageError("again: " + options.run +
                     " has no config.toml: it was recorded by a program of its own, or before "
                     "configurations were kept; 'flightdeck show' has its command");
  }
  if (command.count("--config") != 0) {
    throw UsageError("again: --config names another file than " + config.string() +
                     "; leave it out, or give the file to 'flightdeck run'");
  }
  std::vector<std::string> words = {command_line().at(0), "run", "--config", config.string()};
  const std::vector<std::string> given = option_words(command);
  words.insert(words.end(), given.begin(), given.end());
  const int error = start_again(words);
  TORCH_CHECK(false, "again: cannot start the run: ", std::strerror(error));
}

void add_again(CLI::App* command) {
  const auto options = std::make_shared<AgainOptions>();
  command->add_option("RUN", options->run, "Folder of the record")->required();
  add_options_of_run(*command, options->given);
  command->footer(
      "The configuration in RUN/config.toml is trained from the start into a folder of its own; on "
      "the\nCPU of the same machine it comes to the same numbers, to the bit. Options that are "
      "given "
      "win over\nthe file; another --optimizer starts from its own defaults.\n"
      "Examples:\n"
      "  flightdeck again runs/first\n"
      "  flightdeck again runs/first --seed 43 --out runs/second");
  command->callback([options, command] { repeat_run(*command, *options); });
}

}  // namespace

Command again_command() {
  return {"again", "Repeat a recorded run, with other options if wanted.", 15, &add_again};
}

}  // namespace flightdeck::cli
