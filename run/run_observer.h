// SPDX-License-Identifier: MIT
// Who is told of a run while it trains. `flightdeck run` prints; another front end draws.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "flightdeck/ending.h"
#include "flightdeck/lamp.h"
#include "flightdeck/reading.h"
#include "flightdeck/record.h"

namespace flightdeck::run {

/// What is known of a run before its first step.
struct RunFacts {
  std::string problem, folder;
  bool is_synthetic = false;
  int64_t steps = 0, steps_per_epoch = 1;
  int64_t evaluations = 0;                    ///< how many are to come
  int64_t first_step = 0;                     ///< not 0: the run goes on
  std::map<std::string, std::string> config;  ///< as recorded
};

struct BatchScore {
  double loss = std::numeric_limits<double>::quiet_NaN();
  double accuracy = std::numeric_limits<double>::quiet_NaN();  ///< NaN if the problem has none
};

/// Losses and accuracies by their recorded names: "train_loss", "test_accuracy", ...
using Scores = std::map<std::string, double>;

/// Something that failed and did not end the training.
struct RunWarning {
  enum class About {
    kWatching,    ///< the cockpit or the recorder
    kCheckpoint,  ///< it could not be kept; the next one is tried all the same
    kOutcome,     ///< it could not be written; a checkpoint stays, if there is one
  };
  About about = About::kWatching;
  std::string text;             ///< what is wrong
  bool has_checkpoint = false;  ///< the run's folder holds one
};

struct RunEnd {
  Ending ending = Ending::kFinished;
  int64_t steps = 0;         ///< taken, also by a process before this one
  int64_t diverged_at = -1;  ///< step of the first loss that was not finite; -1: none
  std::string stopped_by;    ///< the lamp that ended it; empty: none
  bool went_on = false;      ///< after it diverged, as options.keep_going asks
  Scores scores;             ///< of the last evaluation
  int64_t scores_step = -1;  ///< its step; -1: there was none
  BatchScore last_batch;
  std::vector<Note> notes;
  RecorderStatistics recorder;
  std::string folder;
  bool has_checkpoint = false;  ///< from which the run can go on
  bool has_outcome = false;     ///< false: the disk did not take it
};

/// Is told one thing at a time by the thread that trains, and warnings by any thread. Everything
/// has an empty default.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  virtual void started(const RunFacts& facts);
  /// Is called after every step. Ask for the score only if it is shown: on a GPU it waits.
  virtual void step_done(int64_t step, const std::function<BatchScore()>& score);
  virtual void evaluation_begins(int64_t step);
  virtual void evaluation_done(int64_t step, const Scores& scores);
  virtual void note(const Note& note);
  /// Is called once for each lamp of severity warning or more. What lights at the end is left to
  /// whoever prints the end.
  virtual void finding(const Finding& finding);
  /// Is called when a lamp has stopped the run, kept a checkpoint or changed the training; `what`
  /// is one sentence.
  virtual void intervened(int64_t step, const std::string& what);
  virtual void warning(const RunWarning& warning);
  virtual void ended(const RunEnd& end);
};

}  // namespace flightdeck::run
