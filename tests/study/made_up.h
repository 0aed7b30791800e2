// SPDX-License-Identifier: MIT
// Outcomes of a comparison that never took place: no training, numbers from formulas and a seed.
#pragma once

#include <string>
#include <vector>

#include "study/analysis/analysis.h"
#include "study/outcome.h"

namespace flightdeck::study {

struct MadeUp {
  size_t optimizers = 15;  // the first ones of the comparison
  size_t problems = 8;
  int64_t epochs = 0;  // 0: those of the problem
  int64_t samples = 75;
  int64_t seeds = 10;
  std::vector<std::string> schedules = {"constant", "cosine", "cosine_restarts", "trapezoidal"};
};

// One-shot runs with all seeds; random and refined samples with one; for each budget the best of
// them with all seeds. Some diverge.
std::vector<Outcome> made_up_study(const MadeUp& request);

// The problems as a published comparison, in the order of the study, with targets that the best
// runs reach.
AnalysisOptions made_up_benchmark();

}  // namespace flightdeck::study
