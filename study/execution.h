// SPDX-License-Identifier: MIT
// Works a study off with child processes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/launcher.h"
#include "study/study.h"

namespace flightdeck::study {

struct Progress {
  size_t ended = 0;          // finished or diverged, whenever
  size_t running = 0;        // of this process
  size_t elsewhere = 0;      // held by other processes when last looked at
  size_t failed = 0;         // in this process
  size_t planned = 0;        // by now
  size_t most = 0;           // that can be planned
  double seconds_left = -1;  // at most; negative: not known yet
};

struct RunEvent {
  enum class Kind { kStarted, kEnded, kFailed };
  Kind kind = Kind::kStarted;
  const PlannedRun& run;
  std::string text;  // of a failure: how it ended and the last lines of its log
};

struct Execution {
  // The program and its first words: {"/usr/bin/flightdeck", "run"}.
  std::vector<std::string> runner;
  int jobs = 1;
  int threads = 1;  // of each run, unless the request says; 0: as many as a run takes by itself
  std::optional<Launcher> launcher;  // starts the runs elsewhere
  // How long to wait for the outcome of a run elsewhere after its end: shared disks show it late.
  double outcome_patience_s = 30;
  std::optional<std::vector<size_t>> only;  // places of the plan; none given: all
  // Says how often someone wished for the end: once ends the runs kindly, twice kills them.
  std::function<int()> interrupts = [] { return 0; };
  std::function<void(const RunEvent&)> on_event = [](const RunEvent&) {};
  // This is called several times a second.
  std::function<void(const Progress&)> on_progress = [](const Progress&) {};
};

// Returns when nothing is left that can be run, or after an interrupt. A run that fails leaves
// those that need it undone, and no others.
Progress execute(Study& study, const Execution& execution);

// Becomes the run at this place of the plan. Returns if it has ended or another process has it.
// Batch systems need this: their signals should reach the run itself.
void become_run(const std::string& study,
                size_t place,
                const std::vector<std::string>& runner,
                int threads);

}  // namespace flightdeck::study
