// SPDX-License-Identifier: MIT
// The command-line tool: parses, runs one command, turns failures into exit statuses.
#include "flightdeck/tool.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <torch/version.h>

#include "cli/command.h"
#include "cli/machine/environment.h"
#include "cli/machine/interrupt.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"
#include "cli/options/usage_error.h"
#include "cli/options/usage_errors.h"
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

// "help run" is "run --help".
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.push_back("--help");
  }
  return words;
}

// CLI11 takes -1 for the largest number there is.
void refuse_negative(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_type_name().find("UINT") == std::string::npos) continue;
    option->check([](const std::string& text) {
      return text.rfind('-', 0) == 0 ? "it is " + text + " but must be at least 0" : std::string();
    });
  }
  for (CLI::App* command : app.get_subcommands({})) refuse_negative(*command);
}

int parse_and_run(int argc, char** argv) {
  // A program with entries of its own is called as it is.
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
  refuse_negative(app);
  std::vector<std::string> words = words_of(argc, argv);
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

// Messages may quote files.
int fail(const std::string& message, int status) {
  std::cerr << "flightdeck: " << record::printable(message, record::Lines::kKept) << "\n";
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
