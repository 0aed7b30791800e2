// SPDX-License-Identifier: MIT
// FaultBench: trains with faults injected and without, diagnoses the records, and counts how often
// the diagnosis is right.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "flightdeck/diagnosis.h"
#include "run/fault.h"
#include "run/subjects.h"

namespace flightdeck::run {

struct FaultBenchOptions {
  std::vector<Fault> faults;      ///< empty: all
  std::vector<Subject> subjects;  ///< empty: those of the split
  Split split = Split::kTest;
  int64_t seeds = 5;
  uint64_t first_seed = 0;  ///< 0: 1 for the tune half, 101 for the test half
  bool quick = false;       ///< one severity, one seed, one subject a fault: for tests
  bool has_healthy = true;  ///< healthy runs beside
  std::string folder;       ///< keeps the records here; empty: they are removed
  /// What is tracked, at every step; empty: all that lamps read and the catalogue has.
  std::vector<std::string> quantities;
  std::function<void(const std::string&)> on_progress = [](const std::string&) {};
  std::function<bool()> is_stop_wanted;
};

/// One run and its diagnosis.
struct FaultCase {
  std::string subject, optimizer, fault;  ///< fault: empty if healthy
  std::string cause;                      ///< what would be right; empty if healthy
  std::vector<std::string> also;          ///< as right
  double severity = 0;
  double rate_share = 1;  ///< of the tuned rate, of healthy runs
  uint64_t seed = 0;
  Verdict verdict = Verdict::kCannotTell;
  double health = 1;                      ///< as the diagnosis has it
  std::vector<std::string> causes;        ///< the likeliest first, three at most
  std::map<std::string, Severity> lamps;  ///< that are lit
  int64_t found_at = -1;                  ///< steps taken when the right cause was first
  int64_t steps = 0;                      ///< taken
  double first_loss = 0, last_loss = 0;   ///< medians of the first and last tenth
  double seconds = 0;                     ///< of training, watching and diagnosing

  bool is_healthy() const { return fault.empty(); }
  bool is_detected() const;
  bool is_right(const std::string& name) const;
  bool is_first() const { return !causes.empty() && is_detected() && is_right(causes[0]); }
  bool is_among_three() const;
  int64_t alarms() const;  ///< lamps that are lit with severity warning or failure
};

/// Counts over cases.
struct FaultScore {
  int64_t runs = 0, detected = 0, first = 0, among_three = 0;
  double median_found_at = -1;  ///< of those where the cause was first

  void add(const FaultCase& one);
};

struct FaultBenchResult {
  std::vector<FaultCase> cases;

  FaultScore total() const;
  std::map<std::string, FaultScore> by_fault() const;
  std::map<std::string, FaultScore> by_subject() const;
  int64_t healthy_runs() const;
  int64_t healthy_with_alarm() const;     ///< with a lamp of severity warning or more
  int64_t healthy_called_faulty() const;  ///< by the diagnosis
  double seconds() const;
  /// Runs by true cause and by the first cause that was named ("healthy" and "cannot_tell" too).
  std::map<std::string, std::map<std::string, int64_t>> confusion() const;
  /// Share of the runs with a cause that light a lamp; "" are the healthy ones.
  std::map<std::string, std::map<std::string, double>> lamp_rates() const;
};

/// Trains and diagnoses everything the options ask for, one run after the other on the thread that
/// calls. Throws c10::ValueError on bad options.
FaultBenchResult run_fault_bench(const FaultBenchOptions& options);

/// The quantities that lamps read, as far as the catalogue has them.
std::vector<std::string> quantities_of_lamps();

}  // namespace flightdeck::run
