// SPDX-License-Identifier: MIT
// flightdeck archive: puts runs away without losing them.
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/recorded_run.h"
#include "cli/reports/labels_text.h"

namespace flightdeck::cli {
namespace {

struct ArchiveOptions {
  std::vector<std::string> runs;
  bool undo = false, json = false;
};

void archive_runs(const ArchiveOptions& options) {
  for (const std::string& run : options.runs) check_run("archive", run);
  for (const std::string& run : options.runs) {
    label_run("archive", run, options.json, [&](record::Labels& labels) {
      labels.is_archived = !options.undo;
    });
  }
}

void add_archive(CLI::App* command) {
  const auto options = std::make_shared<ArchiveOptions>();
  command->add_option("RUN", options->runs, "Their folders")->required();
  command->add_flag("--undo", options->undo, "Bring them back");
  command->add_flag("--json", options->json, "Print one JSON object per run");
  command->footer(
      "Archived runs stay where they are; 'flightdeck runs' and the page leave them out unless "
      "they\n"
      "are asked for them.\n"
      "Examples:\n"
      "  flightdeck archive runs/first runs/second\n"
      "  flightdeck archive runs/first --undo");
  command->callback([options] { archive_runs(*options); });
}

}  // namespace

Command archive_command() {
  return {"archive", "Put runs away: lists leave them out, nothing is lost.", 56, &add_archive};
}

}  // namespace flightdeck::cli
