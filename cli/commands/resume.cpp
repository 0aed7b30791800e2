// SPDX-License-Identifier: MIT
// flightdeck resume: starts the command of an interrupted or killed run again, from its checkpoint.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>

#include "base/shell.h"
#include "cli/command.h"
#include "cli/machine/environment.h"
#include "cli/options/recorded_run.h"
#include "cli/options/run_options.h"
#include "cli/options/usage_error.h"
#include "cli/text/quiet.h"
#include "run/checkpoint.h"

namespace flightdeck::cli {
namespace {

// Returns the arguments of the first start, with the run's folder in the place of its --out.
std::vector<std::string> arguments_of(const run::RunProgress& progress, const std::string& folder) {
  std::vector<std::string> arguments = {command_line().at(0)};
  for (size_t k = 1; k < progress.arguments.size(); ++k) {
    const std::string& word = progress.arguments[k];
    if (word == "--out") {
      ++k;
    } else if (word != "--resume" && word.rfind("--out=", 0) != 0) {
      arguments.push_back(word);
    }
  }
  arguments.insert(arguments.end(), {"--out", folder, "--resume"});
  return arguments;
}

// Refuses what `flightdeck run` would not have taken: somebody else put that there.
void check_arguments(std::vector<std::string> arguments, const std::string& folder) {
  const auto refuse = [&](const std::string& problem) {
    throw UsageError("resume: " + folder + "/checkpoint.pt is not the checkpoint of a run: " +
                     problem + "; remove it and start the run anew");
  };
  if (arguments.size() < 2 || arguments[1] != "run") {
    refuse("it wants 'flightdeck " + (arguments.size() < 2 ? "" : arguments[1]) +
           "' to be started");
  }
  CLI::App command;
  RunArguments given;
  add_run_options(command, given);
  add_quiet(command);
  arguments.erase(arguments.begin(), arguments.begin() + 2);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    command.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    refuse("'flightdeck run' does not take its options: " + std::string(error.what()));
  }
  if (!given.alert.command.empty() || !given.alert.webhook.empty()) {
    refuse("it brings alerts, which are given on the command line alone");
  }
  if (given.run.folder != folder) {
    refuse("it would be recorded to '" + given.run.folder + "'");
  }
}

// Says why there is nothing to go on from, and what to do instead.
std::string why_not(const RunReader& run, RunStatus status, const std::string& folder) {
  if (status != RunStatus::kKilled && status != RunStatus::kInterrupted) {
    return std::string("it is ") + to_string(status);
  }
  const std::string command = run.info().command;
  const bool names_folder = command.find(" --out") != std::string::npos;
  return std::string("it was ") + to_string(status) +
         " within its first minute, before the first one was due, or keeps none "
         "(--checkpoint-every 0); its record is complete. To begin it anew in its place:\n  " +
         command + (names_folder ? "" : " --out " + shell_word(folder)) +
         (command.find(" --resume") == std::string::npos ? " --resume" : "");
}

void resume(const std::string& given, bool json) {
  const RunReader run = open_run("resume", given);
  const RunStatus status = run.status();
  if (status == RunStatus::kRunning) {
    throw UsageError("resume: " + given + " is being recorded to; it needs no help");
  }
  if (!run::Checkpoint::exists(given)) {
    throw UsageError("resume: " + given + " has no checkpoint: " + why_not(run, status, given));
  }
  const run::Checkpoint checkpoint(given);
  const std::string folder = std::filesystem::absolute(given).lexically_normal().string();
  std::vector<std::string> arguments = arguments_of(checkpoint.progress(), folder);
  if (json) arguments.emplace_back("--json");
  if (is_quiet()) arguments.emplace_back("--quiet");
  check_arguments(arguments, folder);
  // Paths in the options are relative to the folder of the first start.
  std::error_code ignored;
  std::filesystem::current_path(checkpoint.progress().folder, ignored);
  const int error = start_again(arguments);
  TORCH_CHECK(false, "resume: cannot start again: ", std::strerror(error));
}

void add_resume(CLI::App* command) {
  const auto folder = std::make_shared<std::string>();
  const auto as_json = std::make_shared<bool>(false);
  command->add_option("RUN", *folder, "Its folder")->required();
  command->add_flag("--json", *as_json, "Print one JSON object per event, and no bar");
  command->footer(
      "The run is trained on from its last checkpoint with the options of its start; on the CPU it "
      "ends\nas if it had never stopped, to the bit.\n"
      "Example:\n  flightdeck resume runs/first");
  command->callback([folder, as_json] { resume(*folder, *as_json); });
}

}  // namespace

Command resume_command() {
  return {"resume", "Go on with a run that was interrupted or killed.", 20, &add_resume};
}

}  // namespace flightdeck::cli
