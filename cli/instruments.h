// SPDX-License-Identifier: MIT
// Which quantities a command computes and when, from its options.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flightdeck/cockpit.h"
#include "flightdeck/quantity.h"
#include "flightdeck/schedule.h"

namespace CLI {
class App;
}

namespace flightdeck::cli {

struct InstrumentOptions {
  std::string preset;                   ///< empty: economy, unless quantities are named
  std::vector<std::string> quantities;  ///< NAME[:SETTINGS][@SCHEDULE]
  int64_t interval = 0;                 ///< 0: not given
  std::string track;                    ///< a schedule's text, instead of the interval
  std::string group = "whole";
  std::string batch_norm = "refuse";
  bool strict = false;
};

/// Adds the options; `options` has to outlive the command.
void add_instrument_options(CLI::App& command, InstrumentOptions& options);

struct Instruments {
  std::string preset;  ///< a preset's name or "none"
  Schedule schedule;   ///< of quantities without one of their own
  std::vector<Quantity> quantities;
  CockpitOptions cockpit;  ///< grouping, strictness and batch normalisation
};

/// Throws c10::ValueError or UsageError if a name or value is wrong. A quantity that is named
/// replaces the preset's.
Instruments chosen_instruments(const InstrumentOptions& options);

/// "refuse", "constant" or "split".
BatchNormPolicy batch_norm_policy(const std::string& name);

}  // namespace flightdeck::cli
