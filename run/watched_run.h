// SPDX-License-Identifier: MIT
// Trains a problem under a cockpit: evaluates, records, keeps checkpoints, leaves the outcome, and
// goes on with a run that was interrupted or killed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flightdeck/finding_sink.h"
#include "run/reactions.h"
#include "run/run_observer.h"
#include "run/tracking.h"
#include "run/training.h"
#include "study/outcome.h"

namespace flightdeck::run {

struct RunOptions {
  TrainingOptions training;
  Tracking tracking;
  std::string folder;  ///< of the record; made if it is not there
  /// Goes on with the folder's run where it was interrupted or killed. The other options must be
  /// those of its start. Begins the run if there is none or if it kept no checkpoint.
  bool resume = false;
  int64_t evaluate_every = 1;  ///< epochs; 0: never
  /// Steps between two checkpoints, 0: none. Not set: at the end of an epoch if the last is half a
  /// minute old, at any step if it is 45 seconds old.
  std::optional<int64_t> checkpoint_every;
  /// Steps before which the model is kept in the folder (run/kept_models.h). Not set: none.
  std::optional<DueSteps> keep_models;
  /// Goes on after a loss that is not finite. Otherwise the run ends there: on the CPU with that
  /// step, on other devices within ten, so that nobody waits for them at every step.
  bool keep_going = false;
  bool stop_diverged = false;  ///< ends with that step on every device, and waits for it
  ReactionOptions reactions;   ///< what lamps may do to the run; nothing unless it is set
  /// Chooses the learning rate, the batch size where none is given, and the end by what the cockpit
  /// sees (run/assist.h).
  bool assist = false;
  /// Is told findings of severity warning or more beside the observer; flightdeck::alerts makes
  /// one.
  OnFinding alert;
  std::vector<std::string> alert_on = {"warning"};  ///< what `alert` is told
  std::map<std::string, std::string> tags;  ///< to find the run by; part of record and outcome
  /// Checkpoints keep these for the program that trains, which can start itself again with them.
  std::vector<std::string> arguments;
  /// Is asked between two steps; true ends the run in order, with a checkpoint. Not set: never.
  std::function<bool()> is_stop_wanted;
};

/// Returns the outcome of the run in options.folder if it has ended other than by an interruption.
/// Throws c10::ValueError if that run had another setting than these options.
std::optional<study::Outcome> ended_run(const RunOptions& options);

class WatchedRun {
 public:
  /// Loads data and checkpoint and begins the record. Throws, and leaves a run that was in the
  /// folder as it is, if that is another run or may not be resumed. `observer` may be null; it has
  /// to outlive the run.
  explicit WatchedRun(RunOptions options, RunObserver* observer = nullptr);
  /// Trains a problem of the caller's own; `options.training.problem` is not read.
  WatchedRun(const suite::Problem& problem, RunOptions options, RunObserver* observer = nullptr);
  ~WatchedRun();

  const Training& training() const;

  /// Trains to the end and says how that was; a training that diverges does not throw. Call it
  /// once.
  RunEnd execute();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace flightdeck::run
