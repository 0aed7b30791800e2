// SPDX-License-Identifier: MIT
// Performance profiles over time to target, scored as AlgoPerf does.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/analysis/result.h"

namespace flightdeck::study {

// Profiles end at this factor.
constexpr double kLargestFactor = 4;

struct Profile {
  std::string competitor;
  // By problem: iterations over those of the fastest competitor; infinite if it was not reached or
  // not run.
  std::map<std::string, double> factors;
  int64_t reached = 0;  // problems
  double score = 0;     // area under the profile between 1 and kLargestFactor, over its width

  // Returns the share of problems reached within `factor` times the fastest competitor's time.
  double share_within(double factor) const;
};

// Sorts by score, the best first. Time to target is the median over seeds; every problem counts for
// everyone.
std::vector<Profile> profiles(const std::vector<const Result*>& results);

}  // namespace flightdeck::study
