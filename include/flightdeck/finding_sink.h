// SPDX-License-Identifier: MIT
// Calls back when a lamp lights while a run goes on. Free of LibTorch.
#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>

#include "flightdeck/lamp.h"

namespace flightdeck {

struct FindingSinkOptions {
  /// Least seconds between two looks at the record. A look costs some milliseconds, so that five
  /// seconds are less than a hundredth of the time.
  double pause_s = 5;
  /// Findings below are not told.
  Severity least = Severity::kWarning;
  /// False: the end of the run is no reason to look; who prints it says what was found.
  bool looks_at_end = true;
};

/// A sink that looks at the record of its own run now and then and tells every finding once, by
/// lamp and symptom, on the thread that trains. The callback may note, checkpoint or set a flag
/// that ends the loop; what it throws drops the sink with a warning, and training goes on.
///
///   cockpit.record_to("runs/first");
///   cockpit.add_sink(std::make_shared<FindingSink>("runs/first", [&](const Finding& finding) {
///     if (finding.severity == Severity::kFailure) is_stopped = true;
///   }));
///
/// Add it after the record, so that what it reads is written.
class FindingSink : public Sink {
 public:
  using OnFinding = std::function<void(const Finding&)>;

  FindingSink(std::string folder, OnFinding on_finding, FindingSinkOptions options = {});

  void begin(const RunInfo&) override {}
  void write(const StepReadings&) override;
  void note(const Note&) override {}
  /// Looks once more, at the whole run.
  void finish(Ending) override;

 private:
  void look();

  std::string folder_;
  OnFinding on_finding_;
  FindingSinkOptions options_;
  std::chrono::steady_clock::time_point last_look_;
  std::set<std::string> told_;
};

}  // namespace flightdeck
