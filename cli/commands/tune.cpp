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

// Of a task of a job array: as many as Slurm gave it.
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

void work(study::Study& study, const TuneOptions& options, TunePrinter& report) {
  study::Execution execution;
  execution.runner = {this_program(), "run"};
  execution.jobs = options.jobs;
  execution.threads = std::max(1, core_count() / options.jobs);
  execution.interrupts = [] { return static_cast<int>(interrupts); };
  execution.on_event = [&](const study::RunEvent& event) { report.event(event); };
  execution.on_progress = [&](const study::Progress& progress) { report.progress(progress); };
  count_interrupts();
  const study::Progress progress = study::execute(study, execution);
  const bool has_failed = progress.failed > 0;
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

void tune(const CLI::App& command, const TuneOptions& options) {
  if (!options.slurm_options.empty() && !options.slurm) {
    throw UsageError("tune: --slurm-option is for --slurm; give both or none");
  }
  const std::string folder = study_folder(command, options);
  if (options.task >= 0) {
    const auto place = static_cast<size_t>(options.task);
    study::become_run(folder, place, {this_program(), "run"}, task_threads());
    return;
  }
  study::Study study(folder);
  TunePrinter report(options.json);
  report.start(study);
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
