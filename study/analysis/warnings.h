// SPDX-License-Identifier: MIT
// What a reader of the analysis has to know before he believes it.
#pragma once

#include "study/analysis/analysis.h"

namespace flightdeck::study {

// Adds to the warnings: synthetic data, settings that differ in what is not compared, missing
// seeds and samples, targets that nobody reached.
void warn(Analysis& analysis);

// Runs of different versions of flightdeck may not be comparable: says which there are.
void warn_of_versions(Analysis& analysis,
                      const std::vector<Outcome>& outcomes,
                      const std::vector<Outcome>& baselines);

}  // namespace flightdeck::study
