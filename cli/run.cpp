// SPDX-License-Identifier: MIT
// flightdeck run: trains a problem of the suite under a cockpit and leaves a record.
#include <iostream>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <torch/torch.h>

#include "cli/checkpoint.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/process.h"
#include "cli/run_folder.h"
#include "cli/run_options.h"
#include "cli/watched_run.h"
#include "flightdeck/record.h"
#include "src/base/clock.h"
#include "src/base/exact_text.h"
#include "src/base/shell.h"
#include "src/serve/assets.h"
#include "study/outcome.h"

namespace flightdeck::cli {
namespace {

// ---- the folder ---------------------------------------------------------------------------------

std::string chosen_folder(const RunOptions& options) {
  if (!options.out.empty()) return options.out;
  return make_own_folder("run",
                         "runs/" + options.training.problem + "-" + options.training.optimizer +
                             "-" + compact_date_and_time(seconds_since_1970()));
}

void refuse_to_overwrite(const std::string& folder) {
  if (folder.empty() || !RunReader::is_run(folder)) return;
  std::string other = folder + "-2";
  for (int copy = 3; std::filesystem::exists(other); ++copy) {
    other = folder + "-" + std::to_string(copy);
  }
  const bool is_running = RunReader(folder).status() == "running";
  throw UsageError("run: " + folder + " already holds a run" +
                   (is_running ? ", which is still running" : "") +
                   "; choose another folder, for example --out " + shell_word(other) +
                   (is_running ? "" : ", or go on with it by --resume"));
}

void check_same_setting(const RunOptions& options, const study::Outcome& outcome) {
  const TrainingOptions& asked = options.training;
  const auto check = [&](const std::string& what, const std::string& now, const std::string& was) {
    if (now == was) return;
    throw UsageError("run: " + options.out + " has ended with another setting: " + what + " was " +
                     was + " and is " + now + " now; choose another --out");
  };
  check("the problem", asked.problem, outcome.setting.problem);
  check("the optimizer", asked.optimizer, outcome.setting.optimizer);
  check("the seed", std::to_string(asked.seed), std::to_string(outcome.seed));
  check("the schedule",
        suite::LearningRateSchedule::parse(asked.schedule).text(),
        outcome.setting.schedule);
  const suite::Hyperparameters all =
      suite::find_optimizer(asked.optimizer).complete(asked.hyperparameters);
  for (const auto& [name, value] : all) {
    const auto before = outcome.setting.hyperparameters.find(name);
    if (before == outcome.setting.hyperparameters.end()) continue;
    check(name, exact_text(value), exact_text(before->second));
  }
}

// A run that has ended is not run again.
bool has_ended(const RunOptions& options) {
  if (!options.resume || !study::has_outcome(options.out)) return false;
  const study::Outcome outcome = study::read_outcome(options.out);
  if (outcome.ending == "interrupted") return false;
  check_same_setting(options, outcome);
  if (options.json) {
    std::cout << Json::object()
                     .field("event", "end")
                     .field("ending", outcome.ending)
                     .field("explanation", "it had ended before")
                     .field("run", options.out)
                     .field("steps", outcome.steps)
                     .text()
              << "\n";
  } else {
    std::cout << options.out << " has ended already: " << outcome.ending << " after "
              << counted(outcome.steps, "step") << "\n";
  }
  return true;
}

void run(const CLI::App& command, RunOptions& options) {
  if (!options.resume) refuse_to_overwrite(options.out);
  if (options.report && !serve::has_page()) {
    throw UsageError(
        "run: --report needs the page of the dashboard, and this flightdeck was built without it; "
        "leave the option out, or install nodejs and npm, run cmake again and build");
  }
  Instruments instruments = complete_run_options(command, options);
  if (has_ended(options)) return;
  prepare_process(options.threads);
  note_interrupts();
  std::unique_ptr<Checkpoint> checkpoint;
  if (options.resume && Checkpoint::exists(options.out)) {
    checkpoint = std::make_unique<Checkpoint>(options.out);
  }
  const std::string folder = chosen_folder(options);
  std::unique_ptr<WatchedRun> run;
  try {
    run = std::make_unique<WatchedRun>(options, std::move(instruments), folder, checkpoint.get());
  } catch (...) {
    if (options.out.empty()) ::rmdir(folder.c_str());  // unless something is in it
    throw;
  }
  run->execute();
}

}  // namespace

void add_run(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      app.add_subcommand("run", "Train a problem of the suite under a cockpit and record it.");
  add_run_options(*command, *options);
  command->footer(
      "Ctrl-C ends the run after the next step, with a complete record and a checkpoint from "
      "which\n"
      "'flightdeck resume' goes on, and exits with 130; a second one kills it.\n"
      "Examples:\n"
      "  flightdeck run fmnist_2c2d --preset business --epochs 2\n"
      "  flightdeck run mnist_mlp --optimizer adam --lr 1e-3 --set beta2=0.99 --synthetic\n"
      "  flightdeck run cifar10_3c3d --quantity loss --quantity \"hess_max_ev@every 50\" \\\n"
      "    --group module --out runs/sharpness");
  command->callback([options, command] { run(*command, *options); });
}

}  // namespace flightdeck::cli
