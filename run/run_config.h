// SPDX-License-Identifier: MIT
// What a run is: its configuration as recorded, and whether two runs are the same.
#pragma once

#include <map>
#include <string>

#include "run/watched_run.h"

namespace flightdeck::run {

using Config = std::map<std::string, std::string>;

// As it is recorded, for people.
Config config_of(const RunOptions& options, const Training& training);

// What must be the same to go on: the recorded configuration without roundings, and what it does
// not say.
Config identity_of(Config config, const RunOptions& options, const Training& training);

// Throws, naming what differs and must not.
void check_same_run(const Config& asked, const Config& stored);

}  // namespace flightdeck::run
