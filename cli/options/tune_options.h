// SPDX-License-Identifier: MIT
// The options of `flightdeck tune`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "study/request.h"

namespace CLI {
class App;
}

namespace flightdeck::cli {

struct TuneOptions {
  std::vector<std::string> targets;  // problems, or the folder of a study
  std::vector<std::string> optimizers, schedules, budgets, grid;
  uint64_t seed = 42;
  int64_t seeds = 10, epochs = 0, batch_size = 0, limit = 0;
  std::string data, device = "cpu";
  bool all_seeds = false;
  bool synthetic = false, no_augment = false, raw = false;
  std::string out;  // empty: chosen by the time
  int jobs = 1, threads = 0;
  bool plan_only = false, slurm = false, json = false;
  std::vector<std::string> slurm_options;
  std::string launcher;  // empty: runs are started here
  std::vector<std::string> hosts;
  bool pilot = false;
  double cost_per_hour = 0;
  int64_t task = -1;        // of a job array: a place in the plan
  bool slurm_next = false;  // the job behind the arrays
};

// Adds the options; `options` has to outlive the command.
void add_tune_options(CLI::App& command, TuneOptions& options);

// Returns true if the command goes on with a study that its folder alone names. Throws UsageError
// on options that do not go together.
bool names_a_study(const CLI::App& command, const TuneOptions& options);

// Returns true if a file says what is compared: the study.json of another study.
bool names_a_request(const TuneOptions& options);

// Returns what that file says; options of every run that were given replace its own. Throws
// UsageError if it cannot be read, or names what this program does not know.
study::Request stored_request(const CLI::App& command, const TuneOptions& options);

// Checks everything that was given. Throws UsageError, or an error if the device or the data are
// missing.
study::Request complete_request(const CLI::App& command, const TuneOptions& options);

}  // namespace flightdeck::cli
