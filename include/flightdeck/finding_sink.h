// SPDX-License-Identifier: MIT
// Calls back when a lamp lights while a run goes on. Free of LibTorch.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "flightdeck/diagnosis.h"
#include "flightdeck/lamp.h"

namespace flightdeck {

/// Is told a finding, and the diagnosis of the record as it is then: the likely causes, ranked.
using OnFinding = std::function<void(const Finding&, const Diagnosis&)>;

struct FindingSinkOptions {
  /// What is told: lamps by name, or a severity, which stands for graver ones too.
  std::vector<std::string> on = {"warning"};
  /// Least seconds between two looks at the record. A look costs some milliseconds, so that five
  /// seconds are less than a hundredth of the time.
  double pause_s = 5;
  /// Looks at steps with values that are so many steps apart instead, so that the same run tells
  /// the same at the same step; 0: by time.
  int64_t every = 0;
  /// False: the end of the run is no reason to look; who prints it says what was found.
  bool looks_at_end = true;
};

/// A sink that looks at the record of its own run now and then and tells every finding once, by
/// lamp and symptom, on the thread that trains. `Cockpit::on_finding` makes one of the cockpit's
/// own record. The callback may note, checkpoint or set a flag that ends the loop; what it throws
/// drops the sink with a warning, and training goes on.
///
///   cockpit.record_to("runs/first");
///   cockpit.on_finding([&](const Finding& finding, const Diagnosis&) {
///     if (finding.severity == Severity::kFailure) is_stopped = true;
///   });
class FindingSink : public Sink {
 public:
  /// Add it after the record, so that what it reads is written. Throws std::invalid_argument if
  /// there is no function, or `options.on` names what is neither a lamp nor a severity.
  FindingSink(std::string folder, OnFinding on_finding, FindingSinkOptions options = {});

  void begin(const RunInfo&) override {}
  void write(const StepReadings& step) override;
  void note(const Note&) override {}
  /// Looks once more, at the whole run.
  void finish(Ending) override;

 private:
  bool is_time_to_look(int64_t step);
  void look();

  std::string folder_;
  OnFinding on_finding_;
  FindingSinkOptions options_;
  std::chrono::steady_clock::time_point last_look_;
  int64_t last_step_ = 0;
  std::set<std::string> told_;
};

}  // namespace flightdeck
