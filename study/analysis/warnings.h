// SPDX-License-Identifier: MIT
// What a reader of the analysis has to know before he believes it.
#pragma once

#include "study/analysis/analysis.h"

namespace flightdeck::study {

// Adds to the warnings: synthetic data, settings that differ in what is not compared, missing
// seeds and samples, targets that nobody reached.
void warn(Analysis& analysis);

}  // namespace flightdeck::study
