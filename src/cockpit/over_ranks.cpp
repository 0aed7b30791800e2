// SPDX-License-Identifier: MIT
#include "cockpit/over_ranks.h"

#include <algorithm>

namespace flightdeck {
namespace {

// Returns true if an answer that is asked for joins so.
bool asks(Needs needs, OverRanks over_ranks) {
  Questions questions;
  questions.what = needs;
  const Asked answers = asked(questions);
  return std::any_of(answers.begin(), answers.end(), [&](const Answer* answer) {
    return answer->kind().over_ranks == over_ranks;
  });
}

// A quantity that shares something reads that in place of the rows. Pairs are of all rows, whoever
// else shares what.
bool reads_rows_of_all(const StepNeeds& needs, bool shares) {
  return shares ? needs.gradients.has(Need::kGram) : asks(needs.gradients, OverRanks::kFromRows);
}

}  // namespace

std::string why_of_first_rank(const TrackedQuantity& tracked) {
  const StepNeeds needs = tracked.needs();
  if (needs.vivit) return "the GGN's Gram matrix is of pairs of samples";
  if (!adds_up(needs.curvature)) return "curvature per sample is not exchanged";
  const bool reads_graph = tracked.functions.look || needs.activations;
  if (reads_graph && !tracked.functions.share) return "what it reads of the graph is not exchanged";
  return "";
}

RankMeaning meaning_over_ranks(const TrackedQuantity& tracked) {
  const StepNeeds needs = tracked.needs();
  const bool shares = static_cast<bool>(tracked.functions.share);
  if (tracked.quantity.measures_process()) return RankMeaning::kProcess;
  if (!why_of_first_rank(tracked).empty()) return RankMeaning::kFirstRank;
  if (reads_rows_of_all(needs, shares)) return RankMeaning::kPairs;
  if (shares) return RankMeaning::kShared;
  if (needs.spectrum) return RankMeaning::kProducts;
  const bool is_late = asks(needs.gradients, OverRanks::kSideBySide) ||
                       asks(needs.gradients, OverRanks::kAboutMean) || needs.chord;
  return is_late ? RankMeaning::kSecond : RankMeaning::kExact;
}

const std::vector<CurvatureSum>& curvature_sums() {
  static const std::vector<CurvatureSum> sums = {
      {"diag_ggn", CurvatureNeed::kDiagGgn, &ParameterCurvature::diag_ggn, false},
      {"diag_ggn_mc", CurvatureNeed::kDiagGgnMc, &ParameterCurvature::diag_ggn_mc, false},
      {"diag_hessian", CurvatureNeed::kDiagHessian, &ParameterCurvature::diag_hessian, false},
      {"trace_ggn", CurvatureNeed::kTraceGgn, &ParameterCurvature::trace_ggn, true},
      {"trace_ggn_mc", CurvatureNeed::kTraceGgnMc, &ParameterCurvature::trace_ggn_mc, true},
      {"trace_hessian", CurvatureNeed::kTraceHessian, &ParameterCurvature::trace_hessian, true},
  };
  return sums;
}

bool adds_up(CurvatureNeeds needs) {
  uint32_t sums = 0;
  for (const CurvatureSum& sum : curvature_sums()) sums |= static_cast<uint32_t>(sum.need);
  return !needs.has(static_cast<CurvatureNeed>(~sums));
}

int64_t asked_samples(const StepNeeds& needs) {
  if (!needs.curvature.empty()) return needs.curvature_batch.samples;
  return needs.spectrum ? needs.spectrum->samples : 0;
}

int64_t share_of_rank(int64_t samples, int64_t own, int64_t ranks) {
  if (samples == 0) return own;
  return std::min((samples + ranks - 1) / ranks, own);
}

}  // namespace flightdeck
