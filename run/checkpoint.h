// SPDX-License-Identifier: MIT
// Where a run can go on after a kill: RUN/checkpoint.pt, the state before one step.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "study/outcome.h"

namespace torch::serialize {
class InputArchive;
}

namespace flightdeck {
class Cockpit;
class WholeFile;
}  // namespace flightdeck

namespace flightdeck::run {

using at::Tensor;

class Training;

/// What a run knows beside training and cockpit.
struct RunProgress {
  int64_t step = 0;           ///< that comes next
  int64_t evaluated_at = -1;  ///< step of the last evaluation; -1: there was none
  study::Outcome outcome;     ///< so far
  std::map<std::string, std::string> config;
  std::vector<std::string> arguments;       ///< of the command line
  std::string folder;                       ///< it was started in
  std::map<std::string, Tensor> reactions;  ///< of run/reactions.h; empty: none are asked for
};

/// Writes in two moves: values of a step become known during the next one, so a checkpoint counts
/// only when that one is recorded too.
class CheckpointWriter {
 public:
  explicit CheckpointWriter(const std::string& run_folder);
  ~CheckpointWriter();

  /// Keeps the state in a file beside. Throws if the disk does not take it; the last checkpoint
  /// stays.
  void prepare(const RunProgress& progress, const Training& training, const Cockpit& cockpit);
  /// Makes the kept state the checkpoint, if there is one. Throws like prepare().
  void commit();
  /// Removes the checkpoint of a run that has ended: there is nothing to go on with.
  void remove();

 private:
  std::string path_;
  std::unique_ptr<WholeFile> prepared_;
};

class Checkpoint {
 public:
  static bool exists(const std::string& run_folder);
  /// Reads what the run knows; throws if the file is damaged.
  explicit Checkpoint(const std::string& run_folder);
  ~Checkpoint();

  const RunProgress& progress() const { return progress_; }
  void restore(Training& training) const;
  void restore(Cockpit& cockpit) const;

 private:
  std::unique_ptr<torch::serialize::InputArchive> archive_;
  RunProgress progress_;
};

}  // namespace flightdeck::run
