// SPDX-License-Identifier: MIT
// A recorded run in numbers: what `flightdeck show` prints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flightdeck/record.h"

namespace flightdeck::cli {

// One series of numbers.
struct NumberSummary {
  std::string name;  // "quantity" or "quantity/field"
  std::string group;
  int64_t count = 0, not_finite = 0;
  double first = 0, last = 0;            // as recorded
  double low = 0, high = 0, median = 0;  // of the finite ones; NaN if there are none
  std::vector<double> values;
};

// The last value of a series of histograms or lists.
struct LastReading {
  std::string name, group;
  int64_t count = 0, step = 0;
  Reading reading;
};

struct ShownRun {
  std::string folder;
  RunStatus status = RunStatus::kRunning;
  RunInfo info;
  double last_time = 0;
  int64_t last_step = -1;
  std::vector<NumberSummary> numbers;
  std::vector<LastReading> histograms, lists;
  int64_t hidden_series = 0;  // left out because of their group
  std::vector<Note> notes;

  bool is_synthetic() const;
  // Returns the config entry; empty if there is none.
  std::string config(const std::string& key) const;
};

struct SummaryOptions {
  std::vector<std::string> quantities;  // empty: all
  std::vector<std::string> groups;      // empty: the whole model; "all": every group
};

// Throws UsageError, naming the nearest, if a quantity or group has no values in the run.
ShownRun summarise(const std::string& folder, const RunReader& run, const SummaryOptions& options);

}  // namespace flightdeck::cli
