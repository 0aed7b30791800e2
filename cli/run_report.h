// SPDX-License-Identifier: MIT
// What `flightdeck run` tells while it trains: a bar on a terminal, lines elsewhere, or one JSON
// object per event.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "flightdeck/reading.h"
#include "flightdeck/record.h"

namespace flightdeck::cli {

/// What the report says of a run before its first step.
struct RunFacts {
  std::string problem, folder;
  bool is_synthetic = false;
  int64_t steps = 0, steps_per_epoch = 1;
  int64_t evaluations = 0;                    ///< how many are planned
  int64_t first_step = 0;                     ///< not 0: the run goes on
  std::map<std::string, std::string> config;  ///< as recorded
};

struct BatchScore {
  double loss = std::numeric_limits<double>::quiet_NaN();
  double accuracy = std::numeric_limits<double>::quiet_NaN();  ///< NaN if the problem has none
};

/// Losses and accuracies by their recorded names: "train_loss", "test_accuracy", ...
using Scores = std::map<std::string, double>;

struct RunEnd {
  std::string ending;        ///< "finished", "interrupted" or "diverged"
  std::string explanation;   ///< of an ending that is not "finished"
  int64_t steps = 0;         ///< taken, also by a process before this one
  int64_t diverged_at = -1;  ///< step of the first loss that was not finite; -1: none
  Scores scores;             ///< of the last evaluation
  int64_t scores_step = -1;  ///< its step; -1: there was none
  BatchScore last_batch;
  std::vector<Note> notes;
  RecorderStatistics recorder;
};

class RunReport {
 public:
  RunReport(RunFacts facts, bool json);
  ~RunReport() { clear_bar(); }

  /// Before `start`: the run goes on at this step, after so many evaluations.
  void resumed(int64_t step, int64_t evaluations);
  void start();
  /// After every step. `score` is asked only if something is shown: on a GPU it waits.
  void step_done(int64_t step, const std::function<BatchScore()>& score);
  void evaluation_begins(int64_t step);
  void evaluation_done(int64_t step, const Scores& scores);
  /// From any thread.
  void warning(const std::string& text);
  void note(const Note& note);
  void end(const RunEnd& end);

 private:
  using Clock = std::chrono::steady_clock;

  void show_bar(const std::string& text);
  void clear_bar() { show_bar(""); }
  void write_bar(const std::string& text);
  void print(const std::string& line);
  double epoch_of(int64_t step) const;
  double seconds_left(int64_t step) const;
  std::string bar_text(int64_t step, const BatchScore& score) const;
  std::string plain_text(int64_t step, const BatchScore& score) const;
  void print_progress_event(int64_t step, const BatchScore& score);
  void print_end(const RunEnd& end);
  void print_end_event(const RunEnd& end);

  RunFacts facts_;
  bool json_, has_bar_, utf8_;
  std::mutex output_;
  bool bar_is_shown_ = false;
  Clock::time_point begin_, last_shown_, last_step_, evaluation_begin_;
  double seconds_per_step_ = 0;  // moving average
  double training_seconds_ = 0, evaluation_seconds_ = 0;
  int64_t steps_done_ = 0, evaluations_done_ = 0;
};

}  // namespace flightdeck::cli
