// SPDX-License-Identifier: MIT
// What a run is: its configuration as recorded, and whether two runs are the same.
#pragma once

#include <map>
#include <string>

#include "run/watched_run.h"

namespace flightdeck::run {

using Config = std::map<std::string, std::string>;

// Returns the learning rates of runs that are given none, by optimizer, where the optimizer's own
// default diverges on this problem. Empty for most.
std::map<std::string, double> own_rates(const std::string& problem);

// Returns the hyperparameters of a run on `problem`: those that are given, then the problem's own
// rate, then the optimizer's defaults. Throws c10::ValueError as the optimizer does.
suite::Hyperparameters complete_hyperparameters(const std::string& problem,
                                                const TrainingOptions& options);

// Returns the configuration as it is recorded, for people.
Config config_of(const RunOptions& options, const Training& training);

// Returns what must be the same to go on: the recorded configuration without roundings, and what it
// does not say.
Config identity_of(Config config, const RunOptions& options, const Training& training);

// Throws, naming what differs and must not.
void check_same_run(const Config& asked, const Config& stored);

}  // namespace flightdeck::run
