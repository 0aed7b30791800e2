// SPDX-License-Identifier: MIT
#include "study/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace flightdeck::study {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

const std::vector<double>& metric(const Curve& curve) {
  return curve.accuracy.empty() ? curve.loss : curve.accuracy;
}

const Curve& first_there(const Curve& wanted, const Curve& instead, const Curve& last) {
  if (!wanted.loss.empty()) return wanted;
  return instead.loss.empty() ? last : instead;
}

// Returns whether all scores of all parts are finite.
bool is_finite(const Outcome& outcome) {
  const auto all = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  for (const Curve* curve : {&outcome.train, &outcome.valid, &outcome.test}) {
    if (!all(curve->loss) || !all(curve->accuracy)) return false;
  }
  return true;
}

double at_epoch(const std::vector<double>& values,
                const std::vector<int64_t>& evaluated,
                int64_t epoch) {
  double value = kNone;
  for (size_t k = 0; k < values.size() && evaluated[k] <= epoch; ++k) value = values[k];
  return value;
}

}  // namespace

bool has_ended(const Outcome& outcome) {
  return outcome.ending == Ending::kFinished || outcome.ending == Ending::kDiverged;
}

bool is_after_divergence(const Outcome& outcome, int64_t epoch) {
  if (outcome.ending != Ending::kDiverged || epoch == 0) return false;
  return outcome.diverged_at < 0 || outcome.diverged_at < epoch * outcome.steps_per_epoch;
}

RunScore score_of(const Outcome& outcome) {
  const Curve& valid = first_there(outcome.valid, outcome.test, outcome.train);
  const Curve& test = first_there(outcome.test, outcome.valid, outcome.train);
  RunScore score;
  score.seconds = std::max(outcome.seconds, outcome.training_seconds);
  score.is_accuracy = !valid.accuracy.empty();
  score.tuning = metric(valid).empty() ? kNone : metric(valid).back();
  score.is_diverged =
      outcome.ending == Ending::kDiverged || !std::isfinite(score.tuning) || !is_finite(outcome);
  const std::vector<double>& values = metric(test);
  score.reported = at_epoch(values, outcome.evaluated, outcome.reported_epoch);
  if (is_after_divergence(outcome, outcome.reported_epoch) || !std::isfinite(score.reported)) {
    score.reported = values.empty() ? kNone : values.front();
  }
  return score;
}

bool is_better(const RunScore& a, const RunScore& b) {
  if (a.is_diverged || b.is_diverged) return !a.is_diverged && b.is_diverged;
  return a.is_accuracy ? a.tuning > b.tuning : a.tuning < b.tuning;
}

std::vector<size_t> best_of(const std::vector<RunScore>& scores, size_t count) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return is_better(scores[a], scores[b]);
  });
  order.resize(std::min(count, order.size()));
  return order;
}

SeedSpread seed_spread_of(const std::vector<RunScore>& scores) {
  SeedSpread spread;
  std::vector<double> reported;
  for (const RunScore& score : scores) {
    reported.push_back(score.reported);
    spread.diverged += score.is_diverged ? 1 : 0;
  }
  static_cast<Spread&>(spread) = spread_of(reported);
  return spread;
}

}  // namespace flightdeck::study
