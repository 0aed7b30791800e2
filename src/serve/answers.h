// SPDX-License-Identifier: MIT
// What a record says, in the types of the wire: shared by the server and the report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/limits.h"
#include "flightdeck/record.h"
#include "record/labels.h"
#include "serve/wire.h"

namespace flightdeck::serve {

// Compares in words, as the wire has them.
inline bool has_status(const wire::RunSummary& run, RunStatus status) {
  return run.status == to_string(status);
}

// Reads all of a run's summary but `id` and `change`, which are the server's.
wire::RunSummary summary_of(const RunReader& run, const std::string& id, int64_t change);

// Returns the run in `folder` with its labels; an unreadable one if it cannot be read. Never
// throws.
wire::RunSummary look_at_run(const std::string& folder,
                             const std::string& id,
                             const ReadOptions& options);

// Adds the labels of the run in `folder`. Damaged ones count as none.
void add_labels(wire::RunSummary& summary, const std::string& folder);
void add_labels(wire::RunSummary& summary, const record::Labels& labels);

// Returns the summary of a run whose record throws when it is opened.
wire::RunSummary unreadable_run(const std::string& id, int64_t change, const std::string& error);

wire::RunDetails details_of(const RunReader& run, wire::RunSummary summary);

// Returns at most `at_most` entries of one series of numbers.
wire::Points points_of(const RunReader& run,
                       int64_t series,
                       const StepRange& range,
                       int64_t at_most);

// Returns at most `at_most` lists or histograms of one series.
std::vector<wire::Frame> frames_of(const RunReader& run,
                                   int64_t series,
                                   const StepRange& range,
                                   int64_t at_most,
                                   int64_t most_numbers = limits::kReadNumbers);

// Returns what the lamps find in the run, the gravest first.
std::vector<wire::Lamp> lamps_of(const RunReader& run);

// Returns the diagnosis that follows from all lamps.
wire::Diagnosis diagnosis_of(const RunReader& run);

}  // namespace flightdeck::serve
