// SPDX-License-Identifier: MIT
// flightdeck experiment: repeats a finding of the papers, draws its figure, writes the figure's
// data and says whether it holds.
#include "run/experiment.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>

#include "base/clock.h"
#include "base/shown_number.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/machine/peak_memory.h"
#include "cli/machine/pictures.h"
#include "cli/machine/process.h"
#include "cli/options/names.h"
#include "cli/options/usage_error.h"
#include "cli/reports/run_picture.h"
#include "cli/text/json.h"
#include "cli/text/next_commands.h"
#include "cli/text/numbers.h"
#include "cli/text/quiet.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"
#include "study/figure_svg.h"

namespace flightdeck::cli {
namespace {

struct CommandOptions {
  std::string name, out, device = "cpu";
  int threads = 0;
  bool json = false;
  run::ExperimentOptions experiment;
};

std::string experiment_folder(const run::Experiment& experiment, const CommandOptions& options) {
  return options.out.empty() ? "experiments/" + experiment.name : options.out;
}

const run::Experiment& chosen_experiment(const std::string& name) {
  check_name("experiment", name, names_of(run::all_experiments()));
  for (const run::Experiment& experiment : run::all_experiments()) {
    if (experiment.name == name) return experiment;
  }
  TORCH_INTERNAL_ASSERT(false);
}

void refuse_folder_in_use(const std::string& folder) {
  std::error_code unreadable;
  if (std::filesystem::exists(folder) && !std::filesystem::is_empty(folder, unreadable)) {
    throw UsageError("experiment: " + folder + " is not empty; choose another --out, or remove it");
  }
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  TORCH_CHECK(!error && access(folder.c_str(), W_OK) == 0,
              "experiment: cannot write to the folder ",
              folder,
              " (",
              error ? error.message() : "permission denied",
              "); choose another --out");
}

std::string write_file(const std::string& folder,
                       const std::string& name,
                       const std::string& text) {
  const std::string path = folder + "/" + name;
  try {
    replace_file(path, text);
  } catch (const std::runtime_error& error) {
    TORCH_CHECK(false, "experiment: ", error.what());
  }
  return path;
}

struct Written {
  std::vector<std::string> files;
  std::string remark;  // why there is no PNG; empty if there is
  double seconds = 0;  // that the experiment took
};

// Writes the screen of a recorded run as SVG, and as PNG where that is possible.
void write_screen(const std::string& folder,
                  const std::string& name,
                  const std::string& run_folder,
                  Written& written) {
  const RunReader run(run_folder);
  const std::string svg = write_file(folder, "screen_" + name + ".svg", svg_of_run(run, name));
  written.files.push_back(svg);
  const std::string png = folder + "/screen_" + name + ".png";
  const std::string fault = png_of_run(run, run_folder, svg, png);
  if (fault.empty()) {
    written.files.push_back(png);
  } else {
    written.remark = fault;
  }
}

// Writes tables as CSV, pictures as SVG and, if a program for it is found, as PNG.
Written write_all(const std::string& folder, const run::ExperimentResult& result) {
  Written written;
  for (const auto& [name, figure] : result.figures) {
    written.files.push_back(write_file(folder, name + ".csv", csv_text(figure)));
  }
  for (const auto& [name, picture] : result.pictures) {
    const std::string svg =
        std::visit([](const auto& drawn) { return study::svg_document(drawn); }, picture);
    written.files.push_back(write_file(folder, name + ".svg", svg));
    const std::string png = folder + "/" + name + ".png";
    const std::string fault = png_of_svg(written.files.back(), png);
    if (fault.empty()) {
      written.files.push_back(png);
    } else {
      written.remark = fault;
    }
  }
  for (const auto& [name, run] : result.runs) {
    write_screen(folder, name, run, written);
    written.files.push_back(run);
  }
  return written;
}

Json json_of(const std::vector<run::Compared>& compared) {
  Json all = Json::array();
  for (const run::Compared& number : compared) {
    all.add(Json::object()
                .field("what", number.what)
                .field("here", number.here)
                .field("published", number.published));
  }
  return all;
}

// Names what shows the recorded runs, if there are any: most experiments leave data for a figure
// alone. Then it names the whole experiment after a quick one, else the list of the others.
std::vector<std::string> commands_after(const run::Experiment& experiment,
                                        const CommandOptions& options,
                                        const run::ExperimentResult& result) {
  std::vector<std::string> commands;
  if (!result.runs.empty()) commands.push_back(command_for("serve", options.experiment.folder));
  commands.push_back(options.experiment.quick
                         ? command_for("experiment " + experiment.name + " --out",
                                       experiment_folder(experiment, options) + "-whole")
                         : command_for("list experiments", ""));
  return commands;
}

std::string json(const run::Experiment& experiment,
                 const CommandOptions& options,
                 const run::ExperimentResult& result,
                 const Written& written) {
  return Json::object()
      .field("experiment", experiment.name)
      .field("reference", experiment.reference)
      .field("quick", options.experiment.quick)
      .field("seed", static_cast<int64_t>(options.experiment.seed))
      .field("data", result.data)
      .field("synthetic", result.is_synthetic)
      .field("table", cli::json_of(result.table))
      .field("compared", json_of(result.compared))
      .field("holds", result.holds)
      .field("finding", result.finding)
      .field("seconds", written.seconds)
      .field("files", written.files)
      .field("remark", written.remark)
      .field("next", commands_after(experiment, options, result))
      .text();
}

void print(const run::Experiment& experiment,
           const CommandOptions& options,
           const run::ExperimentResult& result,
           const Written& written) {
  std::printf("%s: %s (%s)\n",
              experiment.name.c_str(),
              experiment.summary.c_str(),
              experiment.reference.c_str());
  if (options.experiment.quick) std::printf("Test-sized: leave out --quick for the figure.\n");
  for (const std::string& data : result.data) std::printf("%s\n", data.c_str());
  if (result.is_synthetic) {
    std::printf("SYNTHETIC data stand in for files that are not here or not wanted.\n");
  }
  std::printf("\n%s\n", padded_text(result.table).c_str());
  const auto columns = static_cast<size_t>(std::max(60, terminal_width(STDOUT_FILENO, 100)));
  const std::string verdict = result.holds ? "It holds: " : "It does not hold here: ";
  std::printf("%s\n", wrapped(verdict + result.finding, columns, 0).c_str());
  for (const run::Compared& number : result.compared) {
    const std::string line =
        number.what + ": " + short_number(number.here) + " here, published: " + number.published;
    std::printf("%s\n", wrapped(line, columns, 2).c_str());
  }
  std::printf("%s s.\n\n", short_number(written.seconds).c_str());
  if (!written.remark.empty()) std::printf("%s\n", wrapped(written.remark, columns, 0).c_str());
  for (const std::string& file : written.files) std::printf("Written: %s\n", file.c_str());
  std::printf("%s\n", next_lines(commands_after(experiment, options, result)).c_str());
}

void run(const CLI::App& command, CommandOptions& options) {
  const run::Experiment& experiment = chosen_experiment(options.name);
  if (command.count("--threads") != 0 && options.threads < 1) {
    throw UsageError("--threads is " + std::to_string(options.threads) + " but must be at least 1");
  }
  run::check_sizes(experiment, options.experiment);
  const std::string folder =
      std::filesystem::absolute(experiment_folder(experiment, options)).lexically_normal().string();
  refuse_folder_in_use(folder);
  options.experiment.folder = folder + "/runs";
  options.experiment.device = chosen_device("experiment", options.device);
  options.experiment.peak_bytes = [](const std::function<void()>& work) {
    return peak_bytes(c10::kCPU, work);
  };
  prepare_process(options.threads);
  make_folder(folder);
  if (!options.json && !is_quiet()) {
    options.experiment.on_progress = [](const std::string& text) {
      std::fprintf(stderr, "%s\n", text.c_str());
    };
  }
  const Clock::time_point begin = Clock::now();
  const run::ExperimentResult result = run::repeated(experiment, options.experiment);
  const double seconds = seconds_since(begin);
  Written written = write_all(folder, result);
  written.seconds = std::round(10 * seconds) / 10;
  const std::string summary = json(experiment, options, result, written);
  written.files.push_back(write_file(folder, "result.json", summary + "\n"));
  if (options.json) {
    std::printf("%s\n", summary.c_str());
  } else if (is_quiet()) {
    std::printf("%s\n", folder.c_str());
  } else {
    print(experiment, options, result, written);
  }
}

void add_experiment(CLI::App* command) {
  const auto options = std::make_shared<CommandOptions>();
  command->add_option("name", options->name, "See 'flightdeck list experiments'")->required();
  command->add_option("--out",
                      options->out,
                      "Folder of figure and data; default experiments/NAME; one in use is refused");
  command->add_flag(
      "--quick", options->experiment.quick, "Test-sized: a minute at most on two cores");
  command->add_flag("--published",
                    options->experiment.published,
                    "As long as published, where the default is not: hours, or days");
  command->add_option("--steps",
                      options->experiment.steps,
                      "Of every training, where the experiment lets it be chosen");
  command->add_option("--seeds", options->experiment.seeds, "Repeats, where they can be chosen");
  command->add_option("--samples",
                      options->experiment.samples,
                      "Of the training part, where they can be chosen; it is cut to them");
  command->add_option(
      "--seed", options->experiment.seed, "Of parameters, split and order of the data; default 42");
  command->add_option(
      "--device",
      options->device,
      "cpu or cuda, of what is trained; default cpu. Experiments about time stay on "
      "the CPU");
  command->add_option("--threads", options->threads, "CPU threads; default is one per core");
  command->add_flag("--synthetic",
                    options->experiment.synthetic,
                    "Generated data even where the files are here; without files it is so anyway");
  command->add_flag("--json", options->json, "Print one JSON object, and no progress");
  std::string footer = "Experiments:\n";
  for (const std::string& name : names_of(run::all_experiments())) footer += "  " + name + "\n";
  command->footer(footer + "Example:\n  flightdeck experiment implicit_regularisation");
  command->callback([options, command] { run(*command, *options); });
}

}  // namespace

Command experiment_command() {
  return {"experiment",
          "Repeat a finding of the papers, draw its figure, say if it holds.",
          90,
          &add_experiment};
}

}  // namespace flightdeck::cli
