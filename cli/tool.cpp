// SPDX-License-Identifier: MIT
// The command-line tool: parses, runs one command, turns failures into exit statuses.
#include "flightdeck/tool.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <torch/version.h>

#include "cli/command.h"
#include "cli/machine/environment.h"
#include "cli/machine/interrupt.h"
#include "cli/options/config_words.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"
#include "cli/options/usage_error.h"
#include "cli/options/usage_errors.h"
#include "cli/text/colour.h"
#include "record/text.h"

namespace flightdeck {
namespace cli {
namespace {

enum ExitCode { kOk = 0, kFailure = 1, kUsage = 2 };

// Suggests a command where a word is none; CLI11 would only say that one is missing.
void check_commands(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* level = &app;
  for (const std::string& word : words) {
    if (word.rfind('-', 0) == 0) return;
    std::vector<std::string> names;
    for (const CLI::App* command : level->get_subcommands({})) names.push_back(command->get_name());
    if (names.empty()) return;
    check_name("command", word, names);
    level = level->get_subcommand(word);
  }
}

// Refuses negative counts and numbers beyond 64 bits: CLI11 would read both as the largest number
// there is.
void refuse_beyond_range(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (type.find("INT") == std::string::npos) continue;
    const bool is_unsigned = type.find("UINT") != std::string::npos;
    option->check([is_unsigned](const std::string& text) -> std::string {
      if (is_unsigned && text.rfind('-', 0) == 0)
        return "it is " + text + " but must be at least 0";
      errno = 0;
      static_cast<void>(std::strtoll(text.c_str(), nullptr, 10));
      return errno == ERANGE ? "it is " + text + " but must be at most 2^63 - 1" : "";
    });
  }
  for (CLI::App* command : app.get_subcommands({})) refuse_beyond_range(*command);
}

int parse_and_run(int argc, char** argv) {
  // The app has the name it was called by, because a program with entries of its own has another.
  CLI::App app("Flightdeck: a debugger for neural-network training.",
               program_invocation_short_name);
  app.set_version_flag("--version",
                       "flightdeck " FLIGHTDECK_VERSION " (LibTorch " TORCH_VERSION ")");
  app.require_subcommand(1);
  app.get_formatter()->column_width(36);
  app.footer(
      "Start with:\n"
      "  flightdeck doctor                              what this machine has\n"
      "  flightdeck run mnist_mlp --synthetic --steps 200\n"
      "  flightdeck serve                               look at it in a browser, live too\n"
      "  flightdeck show runs/...                       what was recorded\n"
      "  flightdeck help COMMAND                        what a command takes, with examples\n"
      "Exit status: 0 success, 1 failure at run time, 2 wrong usage, 130 ended by Ctrl-C.");

  add_commands(app, all_commands());
  add_quiet(app);
  refuse_beyond_range(app);
  std::vector<std::string> words = with_config({argv, argv + argc});
  words.erase(words.begin());
  check_commands(app, words);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    throw UsageError(usage_message(app, error));
  }
  return kOk;
}

// Prints control characters visibly: messages may quote files.
int fail(const std::string& message, int status) {
  std::cerr << coloured("flightdeck:", Colour::kRed, STDERR_FILENO) << " "
            << record::printable(message, record::Lines::kKept) << "\n";
  return status;
}

}  // namespace
}  // namespace cli

int tool_main(int argc, char** argv, const char* program) {
  try {
    if (program != nullptr) cli::set_command_line(program, {argv, argv + argc});
    return cli::parse_and_run(argc, argv);
  } catch (const cli::Interrupted& interrupted) {
    return interrupted.exit_status;
  } catch (const cli::UsageError& error) {
    return cli::fail(error.what(), cli::kUsage);
  } catch (const std::exception& error) {
    return cli::fail(cli::message_of(error), cli::kFailure);
  }
}

}  // namespace flightdeck
