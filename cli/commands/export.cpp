// SPDX-License-Identifier: MIT
// flightdeck export: a recorded run for other programs.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <streambuf>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>

#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"
#include "cli/options/recorded_run.h"
#include "cli/options/usage_error.h"
#include "cli/text/json.h"
#include "cli/text/work_line.h"

namespace flightdeck::cli {
namespace {

struct ExportOptions {
  std::string run, format, out;
  bool force = false, json = false;
};

// Streams into a file, which keeps errors to itself.
class IntoFile : public std::streambuf {
 public:
  // `on_line` gets the number of lines so far.
  IntoFile(WholeFile& file, std::function<void(int64_t lines)> on_line)
      : file_(file), on_line_(std::move(on_line)) {}

 protected:
  int_type overflow(int_type character) override {
    const char byte = traits_type::to_char_type(character);
    file_.write({&byte, 1});
    count_lines({&byte, 1});
    return traits_type::not_eof(character);
  }
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    file_.write({bytes, static_cast<size_t>(count)});
    count_lines({bytes, static_cast<size_t>(count)});
    return count;
  }

 private:
  void count_lines(std::string_view text) {
    const int64_t more = std::count(text.begin(), text.end(), '\n');
    lines_ += more;
    if (more > 0) on_line_(lines_);
  }

  WholeFile& file_;
  std::function<void(int64_t lines)> on_line_;
  int64_t lines_ = 0;
};

void say_written(const ExportOptions& options, const std::string& path) {
  if (options.json) {
    std::cout << Json::object()
                     .field("run", options.run)
                     .field("format", options.format)
                     .field("path", path)
                     .text()
              << "\n";
  } else {
    std::cout << path << "\n";
  }
}

void write_text(const ExportOptions& options, const RunReader& run, std::ostream& out) {
  if (options.format == "csv") {
    export_csv(run, out);
  } else {
    export_json_lines(run, out);
  }
}

void write_file(const ExportOptions& options, const RunReader& run) {
  try {
    WholeFile file(options.out, Place::kGiven);
    WorkLine progress("export");
    const int64_t steps = run.last_step() + 1;
    // There is one line for each recorded step, of which some may be left out.
    IntoFile buffer(file, [&](int64_t lines) {
      progress.show(std::min(lines, steps), std::max<int64_t>(1, steps), "steps at most");
    });
    std::ostream out(&buffer);
    write_text(options, run, out);
    file.finish();
    file.keep();
  } catch (const std::runtime_error& error) {
    TORCH_CHECK(false, "export: ", error.what());
  }
}

void export_text(const ExportOptions& options, const RunReader& run) {
  if (options.out.empty()) {
    write_text(options, run, std::cout);
    std::cout.flush();
    TORCH_CHECK(std::cout.good(),
                "export: cannot write to the standard output; is it a full disk?");
    return;
  }
  if (std::filesystem::exists(options.out) && !options.force) {
    throw UsageError("export: " + options.out + " exists; choose another --out, or give --force");
  }
  write_file(options, run);
  say_written(options, options.out);
}

bool has_event_file(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().find("tfevents") != std::string::npos) return true;
  }
  return false;
}

void export_events(const ExportOptions& options, const RunReader& run) {
  const std::string folder = options.out.empty()
                                 ? (std::filesystem::path(options.run) / "tensorboard").string()
                                 : options.out;
  if (has_event_file(folder) && !options.force) {
    throw UsageError("export: " + folder +
                     " holds event files, and TensorBoard would mix them with these; choose "
                     "another --out, or give --force");
  }
  say_written(options, export_tensorboard(run, folder));
}

void export_run(const ExportOptions& options) {
  read_arguments("export", [&] {
    check_name("format", options.format, {"jsonl", "csv", "tensorboard"});
  });
  if (options.json && options.out.empty() && options.format != "tensorboard") {
    throw UsageError(
        "export: --json says what was written, but without --out the values themselves are "
        "printed; give --out FILE, or leave --json out");
  }
  const RunReader run = open_run("export", options.run);
  if (options.format == "tensorboard") {
    export_events(options, run);
  } else {
    export_text(options, run);
  }
}

void add_export(CLI::App* command) {
  const auto options = std::make_shared<ExportOptions>();
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
  command->add_flag("--json", options->json, "Say what was written as one JSON object");
  command->footer(
      "Examples:\n"
      "  flightdeck export runs/first --format csv --out first.csv\n"
      "  flightdeck export runs/first --format jsonl | head -n 1\n"
      "  flightdeck export runs/first --format tensorboard && tensorboard --logdir runs");
  command->callback([options] { export_run(*options); });
}

}  // namespace

Command export_command() {
  return {"export", "Write a recorded run for other programs.", 70, &add_export};
}

}  // namespace flightdeck::cli
