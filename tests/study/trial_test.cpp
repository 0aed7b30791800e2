// SPDX-License-Identifier: MIT
#include "study/analysis/trial.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/study/outcomes.h"

namespace flightdeck::study {
namespace {

constexpr Measure kTestAccuracy{MeasuredPart::kTest, true};
constexpr Measure kTestLoss{MeasuredPart::kTest, false};

TEST(Statistics, AreThoseOfThePopulation) {
  const Spread spread = spread_of({1, 2, 3, 6});
  EXPECT_DOUBLE_EQ(spread.mean, 3);
  EXPECT_DOUBLE_EQ(spread.deviation, std::sqrt((4 + 1 + 0 + 9) / 4.0));
  EXPECT_EQ(spread.count, 4);
  EXPECT_TRUE(std::isnan(spread_of({}).mean));
}

TEST(Trials, GroupSeedsOfTheSameSetting) {
  Outcome other_rate = with_accuracies("sgd", "random-000", 42, {0.1, 0.7});
  other_rate.setting.hyperparameters["learning_rate"] = 0.2;
  const Trials trials = group({with_accuracies("sgd", "random-001", 43, {0.1, 0.9}),
                               with_accuracies("sgd", "random-001", 42, {0.3, 0.5}),
                               other_rate},
                              false);
  ASSERT_EQ(trials.all.size(), 2u);
  EXPECT_EQ(trials.runs, 3);
  const Trial& trial = trials.all[1];
  EXPECT_EQ(trial.sample, "random-001");
  ASSERT_EQ(trial.runs.size(), 2u);
  EXPECT_EQ(trial.runs[0].seed, 42u);
  EXPECT_DOUBLE_EQ(trial.spread(kTestAccuracy, 0).mean, 0.2);
  EXPECT_DOUBLE_EQ(trial.spread(kTestAccuracy, 1).mean, 0.7);
  EXPECT_NEAR(trial.spread(kTestAccuracy, 1).deviation, 0.2, 1e-15);
  EXPECT_TRUE(trial.measure(MeasuredPart::kTest).is_accuracy);
  EXPECT_DOUBLE_EQ(trial.runs[0].seconds_per_epoch, 2);
}

TEST(Trials, TakeTheLastOfTwoRunsWithOneSeedAndSaySo) {
  const Trials trials = group({with_accuracies("sgd", "default", 42, {0.1, 0.4}),
                               with_accuracies("sgd", "default", 42, {0.1, 0.6})},
                              false);
  ASSERT_EQ(trials.all.size(), 1u);
  ASSERT_EQ(trials.all[0].runs.size(), 1u);
  EXPECT_DOUBLE_EQ(trials.all[0].runs[0].test.accuracy[1], 0.6);
  ASSERT_EQ(trials.warnings.size(), 1u);
  EXPECT_NE(trials.warnings[0].find("two runs"), std::string::npos);
}

TEST(Trials, LeaveOutInterruptedRunsAndSaySo) {
  Outcome interrupted = with_accuracies("sgd", "default", 42, {0.1, 0.4});
  interrupted.ending = Ending::kInterrupted;
  const Trials trials = group({interrupted}, false);
  EXPECT_TRUE(trials.all.empty());
  EXPECT_EQ(trials.interrupted, 1);
  ASSERT_EQ(trials.warnings.size(), 1u);
}

TEST(Trials, LeaveOutRunsWithoutUntrainedScoresAndSaySo) {
  Outcome late = with_losses("sgd", "default", 42, {8, 4});
  late.evaluated = {1, 2};
  const Trials trials =
      group({late, with_losses("sgd", "default", 43, {INFINITY, 4}), Outcome()}, false);
  EXPECT_TRUE(trials.all.empty());
  EXPECT_EQ(trials.warnings.size(), 3u);
}

TEST(Trials, CountADivergedRunWithItsUntrainedScores) {
  const Outcome diverged = diverged_in(with_losses("sgd", "default", 43, {8, 4}), 2, 3);
  const Trials trials = group({with_losses("sgd", "default", 42, {10, 6, 4, 2}), diverged}, false);
  ASSERT_EQ(trials.all.size(), 1u);
  const Trial& trial = trials.all[0];
  EXPECT_EQ(trial.evaluated, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(trial.runs[1].test.loss, (std::vector<double>{8, 4, 8, 8}));
  EXPECT_TRUE(trial.runs[1].has_diverged);
  EXPECT_EQ(trials.diverged, 1);
  EXPECT_DOUBLE_EQ(trial.spread(kTestLoss, 3).mean, 5);
}

TEST(Trials, FillScoresAfterTheStepThatDivergedEvenIfTheyAreFinite) {
  // The step is 15 of 10 an epoch: the evaluation after epoch 2 is of parameters that are lost.
  const Outcome diverged = diverged_in(with_losses("sgd", "default", 42, {8, 4, 3}), 2, 2);
  const Trials trials = group({diverged}, false);
  EXPECT_EQ(trials.all[0].runs[0].test.loss, (std::vector<double>{8, 4, 8}));
}

TEST(Trials, FillScoresThatAreNotFinite) {
  const Trials trials = group({with_losses("sgd", "default", 42, {8, INFINITY, 5})}, false);
  EXPECT_EQ(trials.all[0].runs[0].test.loss, (std::vector<double>{8, 8, 5}));
  EXPECT_TRUE(trials.all[0].runs[0].has_diverged);
}

TEST(Trials, OfDivergedRunsAloneReachTheirPlannedEpochs) {
  const Trials trials = group({diverged_in(with_losses("sgd", "default", 42, {8}), 1, 5)}, false);
  EXPECT_EQ(trials.all[0].evaluated, (std::vector<int64_t>{0, 5}));
  EXPECT_EQ(trials.all[0].runs[0].test.loss, (std::vector<double>{8, 8}));
}

TEST(Trials, AreJudgedAtTheReportedEpoch) {
  Outcome outcome = with_losses("sgd", "default", 42, {8, 4, 2, 1});
  outcome.reported_epoch = 2;
  EXPECT_EQ(group({outcome}, false).all[0].reported(), 2u);
}

TEST(Trials, KeepOtherDataApart) {
  Outcome synthetic = with_losses("sgd", "default", 43, {8, 4});
  synthetic.is_synthetic = true;
  EXPECT_EQ(group({with_losses("sgd", "default", 42, {8, 4}), synthetic}, false).all.size(), 2u);
}

}  // namespace
}  // namespace flightdeck::study
