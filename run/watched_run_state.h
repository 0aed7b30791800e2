// SPDX-License-Identifier: MIT
// A watched run at work. Its life is in watched_run.cpp, what it keeps on disk to go on from in
// watched_run_checkpoints.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "flightdeck/cockpit.h"
#include "flightdeck/record.h"
#include "run/assist.h"
#include "run/checkpoint.h"
#include "run/outcome_keeper.h"
#include "run/run_config.h"
#include "run/watched_run.h"

namespace flightdeck::run {

// Keeps notes for the end of the run and passes them on as they come.
class NoteSink : public Sink {
 public:
  explicit NoteSink(RunObserver& observer) : observer_(observer) {}

  void begin(const RunInfo&) override {}
  void write(const StepReadings&) override {}
  void note(const Note& note) override {
    notes_.push_back(note);
    observer_.note(note);
  }
  void finish(Ending) override {}

  const std::vector<Note>& notes() const { return notes_; }

 private:
  RunObserver& observer_;
  std::vector<Note> notes_;
};

class WatchedRun::State {
 public:
  State(const suite::Problem& problem, RunOptions options, RunObserver* observer);

  const Training& training() const { return training_; }
  RunEnd execute();

 private:
  RunFacts facts() const;
  void check_same() const;
  void make_cockpit();
  void restore();
  void begin_record();
  void begin_reactions();
  void say_what_cannot_light();
  bool takes_update();
  bool has_converged() const { return assistant_ && assistant_->has_converged(); }
  bool is_over() const { return training_.is_done() || has_converged(); }
  std::map<std::string, Tensor> saved_reactions() const;
  bool is_stopped_by_lamp() {
    return reactions_ && !reactions_->stopped_by().empty() && !has_diverged();
  }
  bool is_stop_wanted() {
    return is_stopped_by_lamp() || (options_.is_stop_wanted && options_.is_stop_wanted());
  }
  bool is_evaluation_due() const;
  bool is_checkpoint_due();
  void keep_model_if_due();
  void keep_model_now();
  bool has_diverged();
  void step();
  void evaluate();
  void prepare_checkpoint();
  void commit_checkpoint();
  void tell_once(const std::string& problem);
  void checkpoint_after_stop();
  BatchScore last_score() const;
  Ending ending();
  bool write_outcome(Ending ending);
  RunEnd finish();

  RunOptions options_;
  RunObserver nobody_;
  RunObserver& observer_;
  std::unique_ptr<Checkpoint> start_;  // null: the run begins
  AssistChoice choice_;                // batch size 0: none
  Training training_;
  Config config_;
  Config identity_;  // what must be the same to go on
  OutcomeKeeper outcome_;
  CheckpointWriter checkpoint_;
  std::shared_ptr<Recorder> recorder_;
  std::shared_ptr<NoteSink> notes_;
  bool tracks_learning_rate_ = false;     // else the run logs it
  std::unique_ptr<Cockpit> cockpit_;      // its end is written to the others
  std::unique_ptr<Reactions> reactions_;  // null: none are asked for
  std::unique_ptr<Assistant> assistant_;  // null: not asked for
  Clock::time_point last_checkpoint_ = Clock::now();
  std::set<std::string> told_;  // problems with the disk
  StepOutcome last_;
  Scores scores_;
  int64_t evaluated_at_ = -1;
  int64_t evaluated_before_ = 0;  // evaluations of a process before this one
};

}  // namespace flightdeck::run
