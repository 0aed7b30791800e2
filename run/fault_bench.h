// SPDX-License-Identifier: MIT
// FaultBench: trains with faults injected and without, diagnoses the records, and counts how often
// the diagnosis is right, and how often its advice mends the training.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "flightdeck/due_steps.h"
#include "run/fault.h"
#include "run/fault_case.h"
#include "run/subjects.h"

namespace flightdeck::run {

struct FaultBenchOptions {
  std::vector<Fault> faults;      ///< empty: all
  std::vector<Subject> subjects;  ///< empty: those of the split
  Split split = Split::kTest;
  int64_t seeds = 5;
  uint64_t first_seed = 0;  ///< 0: 1 for the half tune, 101 for test, 201 for final
  bool quick = false;       ///< one severity, one seed, one subject a fault: for tests
  bool has_healthy = true;  ///< healthy runs beside
  bool follows = false;     ///< changes faulty trainings as the diagnosis advises, and trains again
  /// Results are kept in a file of this folder; cases that it has already are not run again. Empty:
  /// no file.
  std::string folder;
  bool keeps_records = false;  ///< in the folder
  /// Diagnoses the records that the folder has, without training.
  bool only_diagnoses = false;
  /// Runs every `parts`-th case from the one with this number on, for several processes beside one
  /// another.
  int64_t part = 0, parts = 1;
  /// What is tracked; empty: all that lamps read and the catalogue has.
  std::vector<std::string> quantities;
  int64_t steps = 0;  ///< of a training without a fault; 0: 100
  DueSteps due;       ///< the steps that are tracked
  std::function<void(int64_t done, int64_t of, const std::string&)> on_progress =
      [](int64_t, int64_t, const std::string&) {};
  std::function<bool()> is_stop_wanted;
};

/// Trains and diagnoses everything the options ask for, one run after the other on the thread that
/// calls. Throws c10::ValueError on bad options.
FaultBenchResult run_fault_bench(const FaultBenchOptions& options);

/// Returns the quantities that lamps read which are evidence or state facts, as far as the
/// catalogue has them.
std::vector<std::string> quantities_of_lamps();

}  // namespace flightdeck::run
