// SPDX-License-Identifier: MIT
// flightdeck report: a recorded run as one HTML file, a picture or an animation.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/options/recorded_run.h"
#include "cli/reports/report_file.h"
#include "cli/reports/run_picture.h"

namespace flightdeck::cli {

namespace {

void add_report(CLI::App* command) {
  const auto options = std::make_shared<ReportFileOptions>();
  command->add_option("RUN", options->run, "Folder of the record")->required();
  command->add_option("-o,--out", options->out, "File to write; default is RUN/report.FORMAT");
  std::vector<std::string> formats = picture_formats();
  formats.insert(formats.begin(), "html");
  command
      ->add_option(
          "--format",
          options->format,
          "html; png or pdf: the page by Chromium, else panels by rsvg-convert; svg: panels "
          "drawn by the program; gif or webm: panels filling up, by rsvg-convert and ffmpeg")
      ->check(CLI::IsMember(formats));
  command->add_flag("--json", options->json, "Say what was written as JSON");
  command->footer(
      "Example:\n  flightdeck report runs/first -o first.html\n"
      "  flightdeck report runs/first --format png");
  command->callback([options] { write_report(open_run("report", options->run), *options); });
}

}  // namespace

Command report_command() {
  return {"report", "Write a run as one HTML file, a picture or an animation.", 60, &add_report};
}

}  // namespace flightdeck::cli
