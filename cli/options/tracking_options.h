// SPDX-License-Identifier: MIT
// Which quantities a command computes and when, from its options.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/tracking.h"

namespace CLI {
class App;
}

namespace flightdeck::cli {

// The options as they are given, in words.
struct TrackingOptions {
  std::string preset;                   // empty: diagnosis, unless quantities are named
  std::vector<std::string> quantities;  // NAME[:SETTINGS][@DUE]
  int64_t interval = 0;                 // 0: not given
  std::string track;                    // the text of due steps, instead of the interval
  std::string group = "automatic";
  std::string batch_norm = "refuse";
  bool strict = false;
};

// Adds the options; `options` has to outlive the command.
void add_tracking_options(CLI::App& command, TrackingOptions& options);

// Returns what to track. Throws c10::ValueError or UsageError if a name or value is wrong. A
// quantity that is named replaces the preset's.
run::Tracking chosen_tracking(const TrackingOptions& options);

// Reads "refuse", "constant" or "split".
BatchNormPolicy batch_norm_policy(const std::string& name);

}  // namespace flightdeck::cli
