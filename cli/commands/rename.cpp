// SPDX-License-Identifier: MIT
// flightdeck rename: another name for the folder of a run.
#include <cstdio>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/recorded_run.h"
#include "cli/options/usage_error.h"
#include "cli/text/json.h"
#include "record/run_files.h"

namespace flightdeck::cli {
namespace {

struct RenameOptions {
  std::string run, name;
  bool json = false;
};

void rename_run(const RenameOptions& options) {
  check_run("rename", options.run);
  std::string path;
  try {
    path = record::rename_run(options.run, options.name);
  } catch (const std::invalid_argument& error) {
    throw UsageError("rename: " + std::string(error.what()));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("rename: " + std::string(error.what()));
  }
  if (options.json) {
    path = Json::object().field("was", options.run).field("run", path).text();
  }
  std::printf("%s\n", path.c_str());
}

void add_rename(CLI::App* command) {
  const auto options = std::make_shared<RenameOptions>();
  command->add_option("RUN", options->run, "Its folder")->required();
  command->add_option("NAME", options->name, "The new name of the folder, in the same place")
      ->required();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "A run that is being recorded keeps its name, and so does what has the name already. "
      "Studies\n"
      "know their runs by their folders: one that is renamed is trained again.\n"
      "Example:\n"
      "  flightdeck rename runs/mnist_mlp-sgd-20260131-180409 first");
  command->callback([options] { rename_run(*options); });
}

}  // namespace

Command rename_command() {
  return {"rename", "Give the folder of a run another name.", 57, &add_rename};
}

}  // namespace flightdeck::cli
