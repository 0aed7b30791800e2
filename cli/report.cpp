// SPDX-License-Identifier: MIT
// flightdeck report: a recorded run as one HTML file.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "cli/recorded_run.h"
#include "cli/report_file.h"

namespace flightdeck::cli {

void add_report(CLI::App& app) {
  const auto options = std::make_shared<ReportFileOptions>();
  CLI::App* command =
      app.add_subcommand("report", "Write a run as one HTML file that opens anywhere.");
  command->add_option("RUN", options->run, "Folder of the record")->required();
  command->add_option("-o,--out", options->out, "File to write; default is RUN/report.html");
  command->add_flag("--json", options->json, "Say what was written as JSON");
  command->footer("Example:\n  flightdeck report runs/first -o first.html");
  command->callback([options] { write_report(open_run("report", options->run), *options); });
}

}  // namespace flightdeck::cli
