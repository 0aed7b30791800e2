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

double at_epoch(const std::vector<double>& values,
                const std::vector<int64_t>& evaluated,
                int64_t epoch) {
  double value = kNone;
  for (size_t k = 0; k < values.size() && evaluated[k] <= epoch; ++k) value = values[k];
  return value;
}

}  // namespace

bool has_ended(const Outcome& outcome) {
  return outcome.ending == "finished" || outcome.ending == "diverged";
}

RunScore score_of(const Outcome& outcome) {
  const Curve& valid = first_there(outcome.valid, outcome.test, outcome.train);
  const Curve& test = first_there(outcome.test, outcome.valid, outcome.train);
  RunScore score;
  score.is_accuracy = !valid.accuracy.empty();
  score.tuning = metric(valid).empty() ? kNone : metric(valid).back();
  score.is_diverged = outcome.ending == "diverged" || !std::isfinite(score.tuning);
  const std::vector<double>& values = metric(test);
  score.reported = at_epoch(values, outcome.evaluated, outcome.reported_epoch);
  if (score.is_diverged || !std::isfinite(score.reported)) {
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

Spread spread_of(const std::vector<RunScore>& scores) {
  Spread spread;
  double sum = 0, squares = 0;
  for (const RunScore& score : scores) {
    sum += score.reported;
    ++spread.count;
    spread.diverged += score.is_diverged ? 1 : 0;
  }
  const double count = static_cast<double>(spread.count);
  spread.mean = sum / count;
  for (const RunScore& score : scores) squares += std::pow(score.reported - spread.mean, 2);
  spread.deviation = std::sqrt(squares / count);
  return spread;
}

}  // namespace flightdeck::study
