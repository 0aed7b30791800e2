// SPDX-License-Identifier: MIT
// flightdeck run: trains a problem of the suite under a cockpit and leaves a record.
#include <iostream>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>

#include "base/clock.h"
#include "base/shell.h"
#include "cli/command.h"
#include "cli/machine/interrupt.h"
#include "cli/machine/process.h"
#include "cli/options/errors.h"
#include "cli/options/run_options.h"
#include "cli/options/saved_config.h"
#include "cli/options/usage_error.h"
#include "cli/reports/report_file.h"
#include "cli/reports/run_printer.h"
#include "cli/text/json.h"
#include "cli/text/next_commands.h"
#include "cli/text/numbers.h"
#include "flightdeck/record.h"
#include "run/run_folder.h"
#include "run/watched_run.h"
#include "serve/assets.h"
#include "study/outcome.h"

namespace flightdeck::cli {
namespace {

// ---- the folder ---------------------------------------------------------------------------------

std::string chosen_folder(const run::RunOptions& options) {
  if (!options.folder.empty()) return options.folder;
  return run::make_own_folder("run",
                              "runs/" + options.training.problem + "-" +
                                  options.training.optimizer + "-" +
                                  compact_date_and_time(seconds_since_1970()));
}

void refuse_to_overwrite(const std::string& folder) {
  if (folder.empty() || !RunReader::is_run(folder)) return;
  std::string other = folder + "-2";
  for (int copy = 3; std::filesystem::exists(other); ++copy) {
    other = folder + "-" + std::to_string(copy);
  }
  const bool is_running = RunReader(folder).status() == RunStatus::kRunning;
  throw UsageError("run: " + folder + " already holds a run" +
                   (is_running ? ", which is still running" : "") +
                   "; choose another folder, for example --out " + shell_word(other) +
                   (is_running ? "" : ", or go on with it by --resume"));
}

// Returns whether the run has ended: then it is not run again.
bool has_ended(const RunArguments& arguments) {
  if (!arguments.run.resume) return false;
  std::optional<study::Outcome> outcome;
  try {
    outcome = run::ended_run(arguments.run);
  } catch (const c10::ValueError& error) {
    throw UsageError(message_of(error));
  }
  if (!outcome) return false;
  const std::string& folder = arguments.run.folder;
  if (arguments.json) {
    std::cout << Json::object()
                     .field("event", "end")
                     .field("ending", to_string(outcome->ending))
                     .field("explanation", "it had ended before")
                     .field("run", folder)
                     .field("steps", outcome->steps)
                     .field("next", commands_after_run(folder, false))
                     .text()
              << "\n";
  } else {
    std::cout << folder << " has ended already: " << to_string(outcome->ending) << " after "
              << counted(outcome->steps, "step") << "\n"
              << next_lines(commands_after_run(folder, false)) << "\n";
  }
  return true;
}

// Turns a run's end into the exit status.
void throw_unless_finished(const run::RunEnd& end) {
  TORCH_CHECK(end.stopped_by.empty(),
              "run: stopped after step ",
              end.steps - 1,
              ", as --stop-on asks, by the lamp ",
              end.stopped_by);
  if (end.ending == Ending::kInterrupted) throw interruption();
  TORCH_CHECK(end.ending != Ending::kDiverged || end.went_on,
              "run: training diverged at step ",
              end.diverged_at);
  TORCH_CHECK(end.has_outcome, "run: there is no outcome.json in ", end.folder, ", as told above");
}

// Returns nothing if nobody is to be told. The function holds the report, which has to outlive it.
OnFinding alert_of(const RunArguments& arguments, const std::string& folder, RunPrinter& report) {
  if (arguments.alert.command.empty() && arguments.alert.webhook.empty()) return {};
  AlertOptions options = arguments.alert;
  options.run = folder;
  options.on_warning = [&report](const std::string& text) {
    report.warning({run::RunWarning::About::kWatching, text, false});
  };
  return alerts(std::move(options));
}

run::RunEnd executed(run::WatchedRun& run, RunPrinter& report) {
  try {
    return run.execute();
  } catch (...) {
    report.failed();
    throw;
  }
}

void run_problem(const CLI::App& command, RunArguments& arguments) {
  if (!arguments.run.resume) refuse_to_overwrite(arguments.run.folder);
  if (arguments.report && !serve::has_page()) {
    throw UsageError(
        "run: --report needs the page of the dashboard, and this flightdeck was built without it; "
        "leave the option out, or install nodejs and npm, run cmake again and build");
  }
  complete_run_options(command, arguments);
  if (has_ended(arguments)) return;
  prepare_process(arguments.threads);
  note_interrupts();
  run::RunOptions options = arguments.run;
  options.is_stop_wanted = &is_interrupted;
  const std::string folder = chosen_folder(options);
  options.folder = folder;
  RunPrinter report(folder, arguments.json);
  options.alert = alert_of(arguments, folder, report);
  std::unique_ptr<run::WatchedRun> run;
  try {
    run = std::make_unique<run::WatchedRun>(std::move(options), &report);
  } catch (...) {
    if (arguments.run.folder.empty()) ::rmdir(folder.c_str());  // unless something is in it
    throw;
  }
  save_config(command, arguments, run->training(), folder);
  const run::RunEnd end = executed(*run, report);
  if (arguments.report) write_report(RunReader(folder), {folder, "", arguments.json});
  throw_unless_finished(end);
}

void add_run(CLI::App* command) {
  const auto arguments = std::make_shared<RunArguments>();
  add_run_options(*command, *arguments);
  command->footer(
      "Ctrl-C ends the run after the next step, with a complete record and a checkpoint from "
      "which\n"
      "'flightdeck resume' goes on, and exits with 130; a second one kills it.\n"
      "Examples:\n"
      "  flightdeck run fmnist_2c2d --preset business --epochs 2\n"
      "  flightdeck run mnist_mlp --optimizer adam --lr 1e-3 --set beta2=0.99 --synthetic\n"
      "  flightdeck run cifar10_3c3d --quantity loss --quantity \"hess_max_ev@every 50\" \\\n"
      "    --group module --out runs/sharpness");
  command->callback([arguments, command] { run_problem(*command, *arguments); });
}

}  // namespace

Command run_command() {
  return {"run", "Train a problem of the suite under a cockpit and record it.", 10, &add_run};
}

}  // namespace flightdeck::cli
