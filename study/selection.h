// SPDX-License-Identifier: MIT
// How runs are ranked while tuning and judged in the end.
#pragma once

#include <cstdint>
#include <vector>

#include "study/outcome.h"
#include "study/statistics.h"

namespace flightdeck::study {

// A run's scores, as tuning keeps them.
struct RunScore {
  bool is_diverged = false;
  bool is_accuracy = false;  // else a loss: smaller is better
  double tuning = 0;         // on the validation part at the end
  // The score on the test part at the epoch that is reported; the untrained network's if the run
  // had diverged by then.
  double reported = 0;
  double seconds = 0;  // that it took, evaluations counted; 0: not known
};

// Returns whether a run has nothing left to do.
bool has_ended(const Outcome& outcome);

// Returns whether the scores after this epoch are those of a run that had diverged.
bool is_after_divergence(const Outcome& outcome, int64_t epoch);

// Replaces parts that a problem does not have: validation by test, test by validation.
RunScore score_of(const Outcome& outcome);

// Compares for tuning: diverged runs come last, equal ones are equal.
bool is_better(const RunScore& a, const RunScore& b);

// Returns the indices of the `count` best, the best first; of equal ones the earlier comes first.
std::vector<size_t> best_of(const std::vector<RunScore>& scores, size_t count);

struct SeedSpread : Spread {
  int64_t diverged = 0;  // of them
};

// Returns the spread of the reported scores.
SeedSpread seed_spread_of(const std::vector<RunScore>& scores);

}  // namespace flightdeck::study
