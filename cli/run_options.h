// SPDX-License-Identifier: MIT
// The options of `flightdeck run`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/instruments.h"
#include "cli/training.h"

namespace CLI {
class App;
}

namespace flightdeck::cli {

struct RunOptions {
  TrainingOptions training;
  InstrumentOptions instruments;
  std::optional<double> learning_rate, momentum;
  std::vector<std::string> settings;  ///< hyperparameters, NAME=VALUE
  std::string out;                    ///< empty: chosen by problem, optimizer and time
  std::string device = "cpu";
  int threads = 0;                          ///< 0: one per core
  int64_t evaluate_every = 1;               ///< epochs; 0: never
  std::optional<int64_t> checkpoint_every;  ///< steps; 0: never; not set: now and then
  std::vector<std::string> tag_texts;       ///< KEY=VALUE
  std::map<std::string, std::string> tags;
  std::vector<std::string> arguments;  ///< of the whole command line
  bool no_augment = false, keep_going = false, stop_diverged = false, resume = false;
  bool report = false, json = false;
};

/// Texts NAME=NUMBER as hyperparameters. Throws UsageError on another text.
suite::Hyperparameters parse_settings(const std::vector<std::string>& texts);

/// Throws, saying where to get them, if the files that a problem is trained on are missing.
void check_data_is_here(const std::string& command,
                        const std::string& problem,
                        const suite::DataOptions& data);

/// `options` has to outlive the command.
void add_run_options(CLI::App& command, RunOptions& options);

/// Checks what was given and completes `options.training`. Throws UsageError, or an error if the
/// device or the data are missing.
Instruments complete_run_options(const CLI::App& command, RunOptions& options);

}  // namespace flightdeck::cli
