// SPDX-License-Identifier: MIT
// A study's folder: the request (study.json), the plan (plan.jsonl) and the runs (runs/...).
// Several processes, also on several machines, may work on one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "study/outcome.h"
#include "study/plan.h"
#include "study/request.h"

namespace flightdeck::study {

class Study {
 public:
  static bool is_study(const std::string& folder);
  // Makes a study. Of one that is there already, checks that it has the same request. Throws
  // std::invalid_argument if it has another, naming what differs, or if the folder holds something
  // else.
  static void make(const std::string& folder, const Request& request);

  // Reads a study and how its runs ended, and plans what follows from that. Throws
  // std::runtime_error, naming the file, if it cannot be read.
  explicit Study(const std::string& folder);

  const std::string& folder() const { return folder_; }
  const Request& request() const { return request_; }
  // The plan only grows at its end.
  const std::vector<PlannedRun>& plan() const { return plan_; }
  const Scores& scores() const { return scores_; }
  bool has_ended(const PlannedRun& run) const { return scores_.count(run.id) != 0; }

  // Looks whether the run has ended, and plans what follows if so. Returns whether it has.
  bool look_at(const PlannedRun& run);

 private:
  void read_plan();
  void read_outcome(const PlannedRun& run);
  void extend(const std::vector<Combination>& ones);

  std::string folder_;
  Request request_;
  std::vector<PlannedRun> plan_;
  size_t plan_bytes_ = 0;                           // of the file, that `plan_` has
  std::unordered_map<std::string, size_t> places_;  // in the plan, by id
  Scores scores_;
};

// Reads the request without looking at the runs.
Request read_request(const std::string& study);
std::vector<PlannedRun> read_plan(const std::string& study);

// Returns nothing if there is none yet, or it is damaged.
std::optional<Outcome> readable_outcome(const std::string& run_folder);
// Returns nothing if the run is to be started, or gone on with.
std::optional<Outcome> ended_outcome(const std::string& run_folder);
// Is called before a run starts, which would take an unreadable outcome for a mistake of the
// caller.
void remove_damaged_outcome(const std::string& run_folder);

std::string run_folder(const std::string& study, const PlannedRun& run);
// Names the lock that is held by whoever works on the run.
std::string run_lock(const std::string& study, const PlannedRun& run);
// Names the file that holds what the run printed.
std::string run_log(const std::string& study, const PlannedRun& run);

// Returns the arguments for `flightdeck run`. `threads` counts unless the request says how many; 0:
// as many as it takes by itself.
std::vector<std::string> run_arguments(const std::string& study,
                                       const Request& request,
                                       const PlannedRun& run,
                                       int threads);

}  // namespace flightdeck::study
