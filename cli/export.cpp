// SPDX-License-Identifier: MIT
// flightdeck export: a recorded run for other programs.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>

#include "cli/commands.h"
#include "cli/errors.h"
#include "cli/names.h"
#include "cli/recorded_run.h"

namespace flightdeck::cli {
namespace {

struct Options {
  std::string run, format, out;
  bool force = false;
};

void write_text(const Options& options, const RunReader& run, std::ostream& out) {
  if (options.format == "csv") {
    export_csv(run, out);
  } else {
    export_json_lines(run, out);
  }
  out.flush();
  TORCH_CHECK(out.good(),
              "export: cannot write to ",
              options.out.empty() ? "the standard output" : options.out,
              "; is the disk full?");
}

void export_text(const Options& options, const RunReader& run) {
  if (options.out.empty()) {
    write_text(options, run, std::cout);
    return;
  }
  if (std::filesystem::exists(options.out) && !options.force) {
    throw UsageError("export: " + options.out + " exists; choose another --out, or give --force");
  }
  std::ofstream file(options.out, std::ios::binary);
  TORCH_CHECK(file.is_open(), "export: cannot open ", options.out, " for writing");
  write_text(options, run, file);
  std::cout << options.out << "\n";
}

bool has_event_file(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().find("tfevents") != std::string::npos) return true;
  }
  return false;
}

void export_events(const Options& options, const RunReader& run) {
  const std::string folder = options.out.empty()
                                 ? (std::filesystem::path(options.run) / "tensorboard").string()
                                 : options.out;
  if (has_event_file(folder) && !options.force) {
    throw UsageError("export: " + folder +
                     " holds event files, and TensorBoard would mix them with these; choose "
                     "another --out, or give --force");
  }
  std::cout << export_tensorboard(run, folder) << "\n";
}

void export_run(const Options& options) {
  read_arguments("export", [&] {
    check_name("format", options.format, {"jsonl", "csv", "tensorboard"});
  });
  const RunReader run = open_run("export", options.run);
  if (options.format == "tensorboard") {
    export_events(options, run);
  } else {
    export_text(options, run);
  }
}

}  // namespace

void add_export(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("export", "Write a recorded run for other programs.");
  command->add_option("RUN", options->run, "Folder of the record")->required();
  command
      ->add_option("--format",
                   options->format,
                   "jsonl (one JSON object per step), csv (numbers only, one line per step) or "
                   "tensorboard (an event file)")
      ->required();
  command->add_option("--out",
                      options->out,
                      "File to write; for tensorboard a folder. Default is the standard output, "
                      "for tensorboard RUN/tensorboard");
  command->add_flag("--force", options->force, "Write even if there is an export already");
  command->footer(
      "Examples:\n"
      "  flightdeck export runs/first --format csv --out first.csv\n"
      "  flightdeck export runs/first --format jsonl | head -n 1\n"
      "  flightdeck export runs/first --format tensorboard && tensorboard --logdir runs");
  command->callback([options] { export_run(*options); });
}

}  // namespace flightdeck::cli
