// SPDX-License-Identifier: MIT
// What `flightdeck run` tells while it trains: a bar on a terminal, lines elsewhere, or one JSON
// object per event.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "cli/reports/run_bar.h"
#include "run/run_observer.h"

namespace flightdeck::cli {

class RunPrinter : public run::RunObserver {
 public:
  // `folder` is that of the run.
  RunPrinter(std::string folder, bool json);
  ~RunPrinter() override { clear_bar(); }

  void started(const run::RunFacts& facts) override;
  void step_done(int64_t step, const std::function<run::BatchScore()>& score) override;
  void evaluation_begins(int64_t step) override;
  void evaluation_done(int64_t step, const run::Scores& scores) override;
  void warning(const run::RunWarning& warning) override;
  void note(const Note& note) override;
  void finding(const Finding& finding) override;
  void intervened(int64_t step, const std::string& what) override;
  void ended(const run::RunEnd& end) override;
  // Ends the display after an exception; the tool prints what that says.
  void failed();

 private:
  using Clock = std::chrono::steady_clock;

  void show_bar(const std::string& text);
  void clear_bar() { show_bar(""); }
  void write_bar(const std::string& text);
  void print(const std::string& line);
  double epoch_of(int64_t step) const;
  double seconds_left(int64_t step) const;
  RunBar bar_of(int64_t step, const run::BatchScore& score) const;
  std::string plain_text(int64_t step, const run::BatchScore& score) const;
  void print_progress_event(int64_t step, const run::BatchScore& score);
  void print_end(const run::RunEnd& end);
  void print_end_event(const run::RunEnd& end);

  run::RunFacts facts_;
  bool json_, has_bar_, utf8_;
  std::mutex output_;
  bool bar_is_shown_ = false;
  Clock::time_point begin_, last_shown_, last_step_, evaluation_begin_;
  double seconds_per_step_ = 0;  // moving average
  double training_seconds_ = 0, evaluation_seconds_ = 0;
  int64_t steps_done_ = 0, evaluations_done_ = 0;
};

}  // namespace flightdeck::cli
