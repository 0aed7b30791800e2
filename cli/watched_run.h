// SPDX-License-Identifier: MIT
// What `flightdeck run` does: trains under a cockpit, evaluates, records, keeps checkpoints.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "cli/checkpoint.h"
#include "cli/outcome_keeper.h"
#include "cli/run_options.h"
#include "cli/run_report.h"
#include "cli/training.h"
#include "flightdeck/cockpit.h"
#include "flightdeck/record.h"

namespace flightdeck::cli {

class NoteSink;

class WatchedRun {
 public:
  /// Goes on from `checkpoint` if it is not null; throws if that is of another run.
  WatchedRun(const RunOptions& options,
             Instruments instruments,
             const std::string& folder,
             const Checkpoint* checkpoint);
  ~WatchedRun();

  /// Throws if the training failed; the record is complete then too.
  void execute();

 private:
  using Clock = std::chrono::steady_clock;

  RunFacts facts() const;
  void check_same_run(const Checkpoint* checkpoint) const;
  void make_cockpit(Instruments instruments);
  void restore(const Checkpoint& checkpoint);
  void begin_record();
  bool is_evaluation_due() const;
  bool is_checkpoint_due() const;
  bool has_diverged();
  void step();
  void evaluate();
  void prepare_checkpoint();
  void commit_checkpoint();
  void tell_once(const std::string& problem);
  void checkpoint_after_interrupt();
  BatchScore last_score() const;
  RunEnd ending();
  bool write_outcome(const std::string& ending);
  void finish();

  const RunOptions& options_;
  std::string folder_;
  Schedule schedule_;
  Training training_;
  std::map<std::string, std::string> config_;
  std::map<std::string, std::string> identity_;  // what must be the same to go on
  OutcomeKeeper outcome_;
  RunReport report_;
  CheckpointWriter checkpoint_;
  std::shared_ptr<Recorder> recorder_;
  std::shared_ptr<NoteSink> notes_;
  std::unique_ptr<Cockpit> cockpit_;  // its end is written to the others
  Clock::time_point last_checkpoint_ = Clock::now();
  std::set<std::string> told_;  // problems with the disk
  StepOutcome last_;
  Scores scores_;
  int64_t evaluated_at_ = -1;
};

}  // namespace flightdeck::cli
