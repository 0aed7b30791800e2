// SPDX-License-Identifier: MIT
// Settings that were all run with several seeds: what tuning on one of them would have missed
// (Figure B.1 of the comparison).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "study/analysis/result.h"

namespace flightdeck::study {

// One run of a setting that has several seeds.
struct SeedPoint {
  std::string problem, competitor, schedule, budget, sample;
  double learning_rate = 0;
  uint64_t seed = 0;
  bool is_tuning_seed = false;
  double score = 0;  // at the reported epoch; of a run that diverged the untrained one
  bool has_diverged = false;
  Measure measure;
};

// Takes every choice that has three settings or more with a learning rate, most of them run with
// several seeds. Sorts by learning rate and seed.
std::vector<SeedPoint> seed_points(const std::vector<Trial>& trials,
                                   const std::vector<Choice>& choices,
                                   const std::map<std::string, Target>& targets);

}  // namespace flightdeck::study
