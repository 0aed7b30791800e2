// SPDX-License-Identifier: MIT
#include "study/selection.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace flightdeck::study {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Outcome classifier() {
  Outcome outcome;
  outcome.ending = Ending::kFinished;
  outcome.evaluated = {0, 1, 2, 3};
  outcome.reported_epoch = 3;
  outcome.valid = {{4, 3, 2, 1}, {0.1, 0.2, 0.3, 0.4}};
  outcome.test = {{8, 7, 6, 5}, {0.15, 0.25, 0.35, 0.45}};
  return outcome;
}

RunScore loss(double value, bool is_diverged = false) { return {is_diverged, false, value, value}; }

TEST(RunScore, TunesByTheFinalValidationAccuracyAndReportsTheTestAccuracy) {
  const RunScore score = score_of(classifier());
  EXPECT_TRUE(score.is_accuracy);
  EXPECT_EQ(score.tuning, 0.4);
  EXPECT_EQ(score.reported, 0.45);
}

TEST(RunScore, IsALossWhereThereIsNoAccuracy) {
  Outcome outcome = classifier();
  outcome.valid.accuracy.clear();
  outcome.test.accuracy.clear();
  const RunScore score = score_of(outcome);
  EXPECT_FALSE(score.is_accuracy);
  EXPECT_EQ(score.tuning, 1);
  EXPECT_EQ(score.reported, 5);
}

TEST(RunScore, WithWarmRestartsReportsTheLastWholeCycleButTunesByTheEnd) {
  Outcome outcome = classifier();
  outcome.reported_epoch = 2;
  EXPECT_EQ(score_of(outcome).tuning, 0.4);
  EXPECT_EQ(score_of(outcome).reported, 0.35);
}

TEST(RunScore, OfADivergedRunReportsTheUntrainedNetwork) {
  Outcome outcome = classifier();
  outcome.ending = Ending::kDiverged;
  EXPECT_TRUE(score_of(outcome).is_diverged);
  EXPECT_EQ(score_of(outcome).reported, 0.15);
}

TEST(RunScore, CountsAsDivergedIfAnyScoreWentBadOnTheWay) {
  Outcome outcome = classifier();
  outcome.valid.loss[1] = kNan;
  EXPECT_TRUE(score_of(outcome).is_diverged);
}

TEST(RunScore, OfARunThatDivergedAfterTheReportedEpochReportsWhatItHadThen) {
  Outcome outcome = classifier();
  outcome.ending = Ending::kDiverged;
  outcome.steps_per_epoch = 10;
  outcome.diverged_at = outcome.reported_epoch * 10 + 1;
  EXPECT_TRUE(score_of(outcome).is_diverged);
  EXPECT_EQ(score_of(outcome).reported, 0.45);
}

TEST(RunScore, ThatIsNotFiniteCountsAsDiverged) {
  Outcome outcome = classifier();
  outcome.valid.accuracy.clear();
  outcome.valid.loss.back() = kNan;
  EXPECT_TRUE(score_of(outcome).is_diverged);
  EXPECT_EQ(score_of(outcome).reported, 0.45);  // the test part is what it is
  outcome.test.accuracy.back() = kNan;
  EXPECT_EQ(score_of(outcome).reported, 0.15);  // the untrained network's
}

TEST(RunScore, TakesTheTestPartWhereThereIsNoValidationPart) {
  Outcome outcome = classifier();
  outcome.valid = {};
  EXPECT_EQ(score_of(outcome).tuning, 0.45);
}

TEST(BestOf, PutsSmallLossesFirstDivergedRunsLastAndKeepsTheOrderOfEqualOnes) {
  const std::vector<RunScore> scores = {loss(0, true), loss(3), loss(1), loss(3), loss(0, true)};
  EXPECT_EQ(best_of(scores, 5), (std::vector<size_t>{2, 1, 3, 0, 4}));
  EXPECT_EQ(best_of(scores, 2), (std::vector<size_t>{2, 1}));
}

TEST(BestOf, PutsLargeAccuraciesFirst) {
  const std::vector<RunScore> scores = {{false, true, 0.5, 0}, {false, true, 0.9, 0}};
  EXPECT_EQ(best_of(scores, 1), (std::vector<size_t>{1}));
}

TEST(Spread, IsMeanAndPopulationDeviation) {
  const SeedSpread spread = seed_spread_of({loss(1), loss(3), loss(5, true), loss(7)});
  EXPECT_EQ(spread.mean, 4);
  EXPECT_EQ(spread.deviation, std::sqrt(5.0));
  EXPECT_EQ(spread.count, 4);
  EXPECT_EQ(spread.diverged, 1);
}

}  // namespace
}  // namespace flightdeck::study
