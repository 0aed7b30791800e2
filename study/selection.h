// SPDX-License-Identifier: MIT
// How runs are ranked while tuning and judged in the end.
#pragma once

#include <cstdint>
#include <vector>

#include "study/outcome.h"

namespace flightdeck::study {

/// What tuning keeps of a run that ended.
struct RunScore {
  bool is_diverged = false;
  bool is_accuracy = false;  ///< else a loss: smaller is better
  double tuning = 0;         ///< on the validation part at the end
  /// On the test part at the epoch that is reported. Of a diverged run, and where that score is not
  /// finite, the untrained network's.
  double reported = 0;
};

/// True if a run has nothing left to do.
bool has_ended(const Outcome& outcome);

/// Parts that a problem does not have are replaced: validation by test, test by validation.
RunScore score_of(const Outcome& outcome);

/// For tuning: diverged runs come last, equal ones are equal.
bool is_better(const RunScore& a, const RunScore& b);

/// Indices of the `count` best, the best first; of equal ones the earlier.
std::vector<size_t> best_of(const std::vector<RunScore>& scores, size_t count);

struct Spread {
  double mean = 0, deviation = 0;  ///< of the population
  int64_t count = 0, diverged = 0;
};

/// Of the reported scores.
Spread spread_of(const std::vector<RunScore>& scores);

}  // namespace flightdeck::study
