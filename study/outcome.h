// SPDX-License-Identifier: MIT
// What one run of the suite came to: its setting and its scores, epoch by epoch. `flightdeck run`
// leaves it in the run's folder as outcome.json; tuning and analysis read nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "flightdeck/ending.h"

namespace flightdeck::study {

/// What a run is repeated with, seed after seed.
struct Setting {
  std::string problem, optimizer;
  std::string schedule = "constant";
  std::map<std::string, double> hyperparameters;  ///< all of the optimizer's
  int64_t batch_size = 0;
  int64_t epochs = 0;  ///< planned

  bool operator==(const Setting& other) const;
  bool operator!=(const Setting& other) const { return !(*this == other); }
};

/// Scores on one part of the data, one for each of Outcome::evaluated. Not finite: diverged.
struct Curve {
  std::vector<double> loss;
  std::vector<double> accuracy;  ///< in [0, 1]; empty: the problem has none
};

struct Outcome {
  Setting setting;
  uint64_t seed = 0;
  Ending ending = Ending::kFinished;
  int64_t diverged_at = -1;  ///< step of the first loss that was not finite; -1: none seen
  int64_t steps = 0;         ///< taken
  int64_t steps_per_epoch = 0;
  /// Epoch at which the run is judged: the last, but with warm restarts that of the last whole
  /// cycle.
  int64_t reported_epoch = 0;
  std::vector<int64_t> evaluated;  ///< epochs done at each evaluation; the first, 0, is untrained
  Curve train, valid, test;
  int64_t batch_loss_every = 0;      ///< steps between two of `batch_losses`
  std::vector<double> batch_losses;  ///< of mini-batches, before the update
  double training_seconds = 0;       ///< without evaluations
  double seconds = 0;                ///< with them and all else; 0: not kept
  bool is_synthetic = false;
  std::string version;  ///< of the flightdeck that trained; empty: from before it was kept
  std::map<std::string, std::string> tags;  ///< of the one who started it: "sample": "random-007"
};

/// Writes one line of JSON; numbers that are not finite are null.
std::string to_json(const Outcome& outcome);
/// Throws std::runtime_error, saying what is missing or wrong.
Outcome outcome_from_json(const std::string& text);

/// Returns the file of a run's folder that holds its outcome.
std::string outcome_file(const std::string& run_folder);
/// Replaces the file at once: readers see the old one or the new one. Throws if it cannot.
void write_outcome(const std::string& run_folder, const Outcome& outcome);
/// Throws, naming the file.
Outcome read_outcome(const std::string& run_folder);
bool has_outcome(const std::string& run_folder);

/// Returns all outcomes below a folder, in the order of their paths, or those of a file that has
/// one to a line. Leaves out the losses of mini-batches, which are most of an outcome, and files
/// that cannot be read, which `problems` names.
std::vector<Outcome> find_outcomes(const std::string& folder_or_file,
                                   std::vector<std::string>& problems);

}  // namespace flightdeck::study
