// SPDX-License-Identifier: MIT
// The options of `flightdeck run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/tracking_options.h"
#include "flightdeck/alerts.h"
#include "run/watched_run.h"

namespace CLI {
class App;
}

namespace flightdeck::cli {

struct RunArguments {
  run::RunOptions run;       // an empty folder is chosen by problem, optimizer and time
  TrackingOptions tracking;  // run.tracking in words
  std::optional<double> learning_rate, momentum;
  std::vector<std::string> settings;  // hyperparameters, NAME=VALUE
  std::string device = "cpu";
  std::string keep_models;             // due steps; empty: none
  AlertOptions alert;                  // neither command nor webhook: none
  std::vector<std::string> alert_on;   // empty: warnings
  int threads = 0;                     // 0: one per core
  std::vector<std::string> tag_texts;  // KEY=VALUE
  std::string config;                  // read before: see config_words.h
  bool no_augment = false, report = false, json = false;
};

// Reads texts NAME=NUMBER as hyperparameters. Throws UsageError on another text.
suite::Hyperparameters parse_settings(const std::vector<std::string>& texts);

// Throws if the files that a problem is trained on are missing, saying where to get them.
void check_data_is_here(const std::string& command,
                        const std::string& problem,
                        const suite::DataOptions& data);

// Adds the options; `arguments` has to outlive the command.
void add_run_options(CLI::App& command, RunArguments& arguments);

// Adds the same without the problem.
void add_options_of_run(CLI::App& command, RunArguments& arguments);

// Checks what was given and completes `arguments.run`. Throws UsageError, or an error if the device
// or the data are missing.
void complete_run_options(const CLI::App& command, RunArguments& arguments);

}  // namespace flightdeck::cli
