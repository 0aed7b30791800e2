// SPDX-License-Identifier: MIT
// How runs are ranked while tuning and judged in the end.
#pragma once

#include <cstdint>
#include <vector>

#include "study/outcome.h"
#include "study/statistics.h"

namespace flightdeck::study {

// What tuning keeps of a run that ended.
struct RunScore {
  bool is_diverged = false;
  bool is_accuracy = false;  // else a loss: smaller is better
  double tuning = 0;         // on the validation part at the end
  // On the test part at the epoch that is reported; the untrained network's where the run had
  // diverged by then.
  double reported = 0;
  double seconds = 0;  // that it took, evaluations counted; 0: not known
};

// True if a run has nothing left to do.
bool has_ended(const Outcome& outcome);

// True if the scores after this epoch are those of a run that had diverged.
bool is_after_divergence(const Outcome& outcome, int64_t epoch);

// Parts that a problem does not have are replaced: validation by test, test by validation.
RunScore score_of(const Outcome& outcome);

// For tuning: diverged runs come last, equal ones are equal.
bool is_better(const RunScore& a, const RunScore& b);

// Indices of the `count` best, the best first; of equal ones the earlier.
std::vector<size_t> best_of(const std::vector<RunScore>& scores, size_t count);

struct SeedSpread : Spread {
  int64_t diverged = 0;  // of them
};

// Of the reported scores.
SeedSpread seed_spread_of(const std::vector<RunScore>& scores);

}  // namespace flightdeck::study
