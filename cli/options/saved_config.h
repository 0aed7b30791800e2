// SPDX-License-Identifier: MIT
// The configuration that is kept beside a run's record, to repeat it.
#pragma once

#include <string>

#include "cli/options/run_options.h"
#include "run/training.h"

namespace CLI {
class App;
}

namespace flightdeck::cli {

// Returns TOML: the options that were given and what was chosen for those that decide the numbers,
// all hyperparameters included. `flightdeck run --config` with it trains the same again.
std::string config_toml(const CLI::App& command,
                        const RunArguments& arguments,
                        const run::Training& training);

// Writes it to config.toml in the run's folder, but not over that of a run that goes on. Says so
// and goes on if it cannot be written.
void save_config(const CLI::App& command,
                 const RunArguments& arguments,
                 const run::Training& training,
                 const std::string& folder);

}  // namespace flightdeck::cli
