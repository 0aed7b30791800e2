// SPDX-License-Identifier: MIT
// flightdeck runs: the runs of a folder as a table.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/names.h"
#include "cli/reports/runs_table.h"

namespace flightdeck::cli {
namespace {

void add_runs(CLI::App* command) {
  const auto options = std::make_shared<RunsTableOptions>();
  command->add_option("FOLDER", options->folder, "Folder of runs")->capture_default_str();
  command
      ->add_option("--sort",
                   options->sort,
                   "Column: " + joined(sortable_columns()) +
                       "; what is best, newest or first in the alphabet comes first")
      ->capture_default_str();
  command->add_flag("--reverse", options->reverse, "The other way round");
  command->add_option("--tag", options->tags, "Only runs with this tag; repeatable")
      ->allow_extra_args(false);
  command->add_flag("--archived", options->archived, "Archived runs too");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "Scores are the last that were recorded: loss, accuracy. Runs that cannot be read are "
      "listed\n"
      "with the reason.\n"
      "Examples:\n"
      "  flightdeck runs\n"
      "  flightdeck runs studies/first --sort test_accuracy\n"
      "  flightdeck runs --tag baseline --json");
  command->callback([options] { print_runs("runs", *options); });
}

}  // namespace

Command runs_command() { return {"runs", "List the runs of a folder in a table.", 45, &add_runs}; }

}  // namespace flightdeck::cli
