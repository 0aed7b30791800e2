// SPDX-License-Identifier: MIT
// What a quantity's value is of where several ranks train one model. It follows from what its needs
// declare: answers about rows in their own files (rows/answer.h), all other needs here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cockpit/plan.h"
#include "rows/answer.h"

namespace flightdeck {

enum class RankMeaning {
  kExact,     // of the samples of all ranks, or the same on each: at most the first sum of a step
  kSecond,    // of the samples of all ranks, by numbers of the second sum
  kProducts,  // of the samples of all ranks, by one sum per product
  kPairs,   // of the samples of all ranks while their rows take few enough bytes, then of rank 0's
  kShared,  // of the samples of all ranks, by what the quantity shares
  kFirstRank,  // of rank 0's samples
  kProcess,    // of rank 0's process
};

RankMeaning meaning_over_ranks(const TrackedQuantity& tracked);
// Says why a quantity is of rank 0's samples alone.
std::string why_of_first_rank(const TrackedQuantity& tracked);

// Says what joins a need of curvature; none is exchanged otherwise.
struct CurvatureSum {
  const char* name;  // of the field
  CurvatureNeed need;
  Tensor ParameterCurvature::*field;
  bool is_trace;  // one number, not the parameter's shape
};
const std::vector<CurvatureSum>& curvature_sums();
// Returns true if all that is asked for is among them.
bool adds_up(CurvatureNeeds needs);

// Returns how many samples a spectrum or another curvature is asked of; 0 means all.
int64_t asked_samples(const StepNeeds& needs);
// Returns how many of its `own` samples one of `ranks` gives where `samples` of all are asked for;
// 0 of them means all. What others have plays no part, and who has samples gives at least one.
int64_t share_of_rank(int64_t samples, int64_t own, int64_t ranks);

}  // namespace flightdeck
