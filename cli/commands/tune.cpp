// SPDX-License-Identifier: MIT
// flightdeck tune: compares optimizers, each tuned with the same budget, by many runs.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>

#include "base/clock.h"
#include "base/shell.h"
#include "cli/command.h"
#include "cli/machine/environment.h"
#include "cli/machine/interrupt.h"
#include "cli/machine/processor.h"
#include "cli/options/errors.h"
#include "cli/options/tune_options.h"
#include "cli/options/usage_error.h"
#include "cli/reports/tune_printer.h"
#include "cli/text/next_commands.h"
#include "cli/text/numbers.h"
#include "run/run_folder.h"
#include "study/estimate.h"
#include "study/execution.h"
#include "study/slurm.h"
#include "study/study.h"

namespace flightdeck::cli {
namespace {

volatile std::sig_atomic_t interrupts = 0, last_signal = 0;

extern "C" void count_signal(int number) {
  interrupts = interrupts + 1;
  last_signal = number;
}

void count_interrupts() {
  struct sigaction action {};
  action.sa_handler = &count_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a reader of the output that goes away does not end the runs
}

// Makes the study if there is none; returns its folder.
std::string study_folder(const CLI::App& command, const TuneOptions& options) {
  if (names_a_study(command, options)) return options.targets[0];
  const study::Request request = names_a_request(options) ? stored_request(command, options)
                                                          : complete_request(command, options);
  const std::string folder =
      options.out.empty()
          ? run::make_own_folder("tune", "studies/" + compact_date_and_time(seconds_since_1970()))
          : options.out;
  try {
    study::Study::make(folder, request);
  } catch (const std::invalid_argument& error) {
    throw UsageError("tune: " + message_of(error));
  }
  return folder;
}

// Returns as many threads as Slurm gave to a task of a job array.
int task_threads() {
  const char* cores = std::getenv("SLURM_CPUS_ON_NODE");
  return std::max(1, cores == nullptr ? 1 : std::atoi(cores));
}

void submit(const study::Study& study, const TuneOptions& options, TunePrinter& report) {
  const study::Submission submission =
      options.slurm_next ? study::submit_next(study, this_program())
                         : study::submit(study, this_program(), options.slurm_options);
  report.submitted(study, submission);
}

std::optional<study::Launcher> launcher_of(const TuneOptions& options) {
  if (options.launcher.empty()) return std::nullopt;
  try {
    return study::Launcher(options.launcher, options.hosts);
  } catch (const std::invalid_argument& error) {
    throw UsageError("tune: " + message_of(error));
  }
}

// Tells the estimate where it says something, or was asked for.
void tell_estimate(const study::Study& study, const TuneOptions& options, TunePrinter& report) {
  const study::Estimate estimate = study::estimate_of(study);
  const bool is_news = estimate.measured > 0 && estimate.left > 0;
  if (!is_news && !options.plan_only && !options.slurm) return;
  report.estimate(estimate, options.jobs, options.cost_per_hour);
}

void work(study::Study& study, const TuneOptions& options, TunePrinter& report) {
  study::Execution execution;
  execution.runner = {this_program(), "run"};
  execution.jobs = options.jobs;
  execution.threads = std::max(1, core_count() / options.jobs);
  execution.launcher = launcher_of(options);
  if (execution.launcher) execution.threads = 0;  // other machines have other numbers of cores
  if (options.pilot) execution.only = study::pilot_places(study);
  execution.interrupts = [] { return static_cast<int>(interrupts); };
  execution.on_event = [&](const study::RunEvent& event) { report.event(event); };
  execution.on_progress = [&](const study::Progress& progress) { report.progress(progress); };
  count_interrupts();
  const study::Progress progress = study::execute(study, execution);
  const bool has_failed = progress.failed > 0;
  if (options.pilot && !has_failed && interrupts == 0) {
    tell_estimate(study, options, report);
  }
  report.end(study,
             has_failed       ? Ending::kFailed
             : interrupts > 0 ? Ending::kInterrupted
                              : Ending::kFinished);
  if (has_failed) {
    throw std::runtime_error("tune: " + counted(static_cast<int64_t>(progress.failed), "run") +
                             " failed; see their log.txt, put it right, and go on with: " +
                             command_for("tune", study.folder()));
  }
  if (interrupts > 0) throw Interrupted(last_signal);
}

void check_ways_to_run(const TuneOptions& options) {
  if (!options.slurm_options.empty() && !options.slurm) {
    throw UsageError("tune: --slurm-option is for --slurm; give both or none");
  }
  if (!options.hosts.empty() && options.launcher.empty()) {
    throw UsageError("tune: --host is for --launcher; give both or none");
  }
  if (options.slurm && (!options.launcher.empty() || options.pilot)) {
    throw UsageError(
        "tune: --slurm submits all open runs by itself; leave out --launcher and --pilot");
  }
  if (options.cost_per_hour < 0) {
    throw UsageError("tune: --cost-per-hour is " + short_number(options.cost_per_hour) +
                     " but must not be negative");
  }
  launcher_of(options);
}

void tune(const CLI::App& command, const TuneOptions& options) {
  check_ways_to_run(options);
  std::string folder = study_folder(command, options);
  // The whole path is needed by other machines and other working directories.
  if (!options.launcher.empty()) folder = std::filesystem::absolute(folder).string();
  if (options.task >= 0) {
    const auto place = static_cast<size_t>(options.task);
    study::become_run(folder, place, {this_program(), "run"}, task_threads());
    return;
  }
  study::Study study(folder);
  TunePrinter report(options.json);
  report.start(study);
  tell_estimate(study, options, report);
  if (options.plan_only) {
    report.end(study, std::nullopt);
  } else if (options.slurm || options.slurm_next) {
    submit(study, options, report);
  } else {
    work(study, options, report);
  }
}

void add_tune(CLI::App* command) {
  const auto options = std::make_shared<TuneOptions>();
  add_tune_options(*command, *options);
  command->footer(
      "Ctrl-C ends the runs with a checkpoint, and exits with 130; a second one kills them. The\n"
      "same command, or 'flightdeck tune STUDY', goes on where it stopped.\n"
      "Examples:\n"
      "  flightdeck tune quadratic_deep mnist_logreg --optimizer sgd --optimizer adam \\\n"
      "    --budget small --jobs 2 --out studies/first\n"
      "  flightdeck tune mnist_mlp --optimizer momentum --grid learning_rate=1e-5:1e2:36\n"
      "  flightdeck tune small --optimizer sgd --optimizer adam --budget large --plan-only\n"
      "  flightdeck tune studies/first --slurm --slurm-option=--time=60");
  command->callback([options, command] { tune(*command, *options); });
}

}  // namespace

Command tune_command() {
  return {
      "tune", "Compare optimizers, each tuned with the same budget, by many runs.", 30, &add_tune};
}

}  // namespace flightdeck::cli
