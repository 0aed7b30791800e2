// SPDX-License-Identifier: MIT
// Tuneability, improvement matrix, gains of budgets and schedules.
#include <cmath>

#include <gtest/gtest.h>

#include "study/analysis/analysis.h"
#include "tests/study/made_up.h"
#include "tests/study/outcomes.h"

namespace flightdeck::study {
namespace {

Outcome at_rate(Outcome outcome, double rate) {
  outcome.setting.hyperparameters["learning_rate"] = rate;
  return outcome;
}

Outcome with_schedule(Outcome outcome, const std::string& schedule) {
  outcome.setting.schedule = schedule;
  return outcome;
}

TEST(RelativePerformance, IsOneForTheBestAndLessForTheRest) {
  const Measure accuracy{MeasuredPart::kTest, true}, loss{MeasuredPart::kTest, false};
  EXPECT_DOUBLE_EQ(relative_performance(accuracy, 0.45, 0.9, 0.1), 0.5);
  EXPECT_DOUBLE_EQ(relative_performance(loss, 40, 10, 100), 0.25);
  EXPECT_DOUBLE_EQ(relative_performance(loss, 10, 10, 100), 1);
  // Losses that may be negative have no quotient that means anything.
  EXPECT_DOUBLE_EQ(relative_performance(loss, 0, -10, 10), 0.5);
  EXPECT_DOUBLE_EQ(relative_performance(loss, 30, -10, 10), 0);
  EXPECT_DOUBLE_EQ(relative_performance(loss, INFINITY, 10, 100), 0);
}

TEST(Tuneability, SaysWhatWasBestAndHowGoodTheRestWas) {
  const Analysis analysis =
      analyze({at_rate(with_accuracies("sgd", "grid-000", 42, {0.1, 0.5}), 0.01),
               at_rate(with_accuracies("sgd", "grid-001", 42, {0.1, 0.8}), 0.1),
               at_rate(with_accuracies("sgd", "grid-001", 43, {0.1, 0.2}), 0.1),
               at_rate(with_accuracies("sgd", "grid-002", 42, {0.1, 0.796}), 1),
               at_rate(diverged_in(with_accuracies("sgd", "grid-003", 42, {0.1}), 1, 1), 10),
               at_rate(with_accuracies("adam", "grid-000", 42, {0.1, 1.0}), 0.1),
               at_rate(with_accuracies("adam", "grid-001", 42, {0.1, 0.6}), 1)},
              {},
              {});
  ASSERT_EQ(analysis.tuneabilities.size(), 2u);
  const Tuneability& sgd = analysis.tuneabilities[1];
  EXPECT_EQ(sgd.competitor, "sgd");
  EXPECT_DOUBLE_EQ(sgd.best.at("learning_rate"), 0.1);
  EXPECT_EQ(sgd.samples, 4);
  EXPECT_EQ(sgd.diverged, 1);
  EXPECT_DOUBLE_EQ(sgd.within_1, 0.5);  // 0.8 and 0.796 of 0.8, on the tuning seed
  EXPECT_DOUBLE_EQ(sgd.within_10, 0.5);
  EXPECT_DOUBLE_EQ(sgd.median_rel, (0.5 / 0.8 + 0.796 / 0.8) / 2);

  std::vector<TunedPoint> points;
  for (const TunedPoint& point : analysis.points) {
    if (point.competitor == "sgd") points.push_back(point);
  }
  // Relative to the best of the problem, which is adam's.
  const std::vector<std::pair<double, double>> expected = {
      {0.01, 0.5}, {0.1, 0.8}, {1, 0.796}, {10, 0}};
  EXPECT_EQ(upper_envelope(points), expected);
}

TEST(Sensitivity, OfRandomSamplesIsTheBestInEachThirdOfADecade) {
  std::vector<TunedPoint> points(3);
  points[0].learning_rate = 0.11, points[0].relative = 0.3;
  points[1].learning_rate = 0.13, points[1].relative = 0.7;
  points[2].learning_rate = 0.9, points[2].relative = 0.5;
  for (TunedPoint& point : points) point.sample = "random-000";
  const std::vector<std::pair<double, double>> expected = {{0.13, 0.7}, {0.9, 0.5}};
  EXPECT_EQ(upper_envelope(points), expected);
}

const Improvement* cell_of(const Analysis& analysis,
                           const std::string& problem,
                           const std::string& untuned,
                           const std::string& tuned) {
  for (const Improvement& cell : analysis.improvements) {
    if (cell.problem == problem && cell.untuned == untuned && cell.tuned == tuned) return &cell;
  }
  return nullptr;
}

TEST(Improvement, IsWhatSwitchingFromUntunedToTunedGains) {
  const Analysis analysis = analyze({with_losses("adam", "default", 42, {50, 20}),
                                     with_losses("adam", "random-000", 42, {50, 10}),
                                     with_losses("sgd", "default", 42, {50, 40}),
                                     with_losses("sgd", "random-000", 42, {50, 25}),
                                     with_accuracies("sgd", "default", 42, {0.1, 0.8}),
                                     with_accuracies("sgd", "default", 43, {0.1, 0.6}),
                                     with_accuracies("adam", "random-000", 42, {0.1, 0.9})},
                                    {},
                                    {});
  // Rows are untuned: from SGD's defaults to tuned Adam the loss falls from 40 to 10.
  const Improvement* to_adam = cell_of(analysis, "quadratic_deep", "sgd", "adam");
  ASSERT_NE(to_adam, nullptr);
  EXPECT_DOUBLE_EQ(to_adam->absolute, 30);
  EXPECT_DOUBLE_EQ(to_adam->relative, 0.75);
  EXPECT_DOUBLE_EQ(cell_of(analysis, "quadratic_deep", "adam", "sgd")->absolute, -5);
  const Improvement* accuracy = cell_of(analysis, "mnist_mlp", "sgd", "adam");
  ASSERT_NE(accuracy, nullptr);
  EXPECT_NEAR(accuracy->absolute, 0.2, 1e-15);
  EXPECT_NEAR(accuracy->absolute_on_tuning_seed, 0.1, 1e-15);
  const Improvement* mean = cell_of(analysis, "", "sgd", "adam");
  ASSERT_NE(mean, nullptr);
  EXPECT_NEAR(mean->relative, (0.75 + 0.2 / 0.7) / 2, 1e-15);
  EXPECT_EQ(mean->problems, 2);
  EXPECT_TRUE(std::isnan(mean->absolute));
}

TEST(Improvement, MatrixOfFifteenHasAllCellsForEveryProblem) {
  MadeUp request;
  request.epochs = 4;
  request.samples = 25;
  request.seeds = 2;
  request.schedules = {"constant"};
  const Analysis analysis = analyze(made_up_study(request), {}, made_up_benchmark());
  EXPECT_EQ(analysis.improvements.size(), 15u * 15 * (8 + 1));
}

TEST(Gains, CompareWithLessTuningAndWithTheConstantSchedule) {
  const Analysis analysis =
      analyze({with_losses("sgd", "default", 42, {50, 40}),
               with_losses("sgd", "random-000", 42, {50, 20}),
               with_losses("sgd", "random-025", 42, {50, 16}),
               with_losses("sgd", "refined-000", 42, {50, 12}),
               with_schedule(with_losses("sgd", "default", 42, {50, 30}), "cosine"),
               with_schedule(with_losses("sgd", "random-000", 42, {50, 10}), "cosine")},
              {},
              {});
  ASSERT_EQ(analysis.gains.size(), 6u);
  const auto gain = [&](const std::string& schedule, const std::string& budget) {
    for (const Gain& row : analysis.gains) {
      if (row.schedule == schedule && row.budget == budget) return row;
    }
    return Gain();
  };
  EXPECT_DOUBLE_EQ(gain("constant", "one_shot").over_one_shot, 0);
  EXPECT_TRUE(std::isnan(gain("constant", "one_shot").over_less_tuning));
  EXPECT_DOUBLE_EQ(gain("constant", "small").over_less_tuning, 0.5);
  EXPECT_DOUBLE_EQ(gain("constant", "medium").over_less_tuning, 0.2);
  EXPECT_DOUBLE_EQ(gain("constant", "large").over_less_tuning, 0.25);
  EXPECT_DOUBLE_EQ(gain("constant", "large").over_one_shot, 0.7);
  EXPECT_DOUBLE_EQ(gain("cosine", "one_shot").over_constant, 0.25);
  EXPECT_DOUBLE_EQ(gain("cosine", "small").over_constant, 0.5);
  EXPECT_DOUBLE_EQ(gain("cosine", "small").over_one_shot, 0.75);
  EXPECT_TRUE(std::isnan(gain("constant", "small").over_constant));
}

TEST(Gains, AreSummarisedByQuartiles) {
  std::vector<Gain> rows(5);
  for (size_t k = 0; k < rows.size(); ++k) {
    rows[k].schedule = "constant";
    rows[k].budget = "small";
    rows[k].over_one_shot = static_cast<double>(k);
  }
  rows[4].over_one_shot = NAN;
  const std::vector<GainSummary> summary = summarise(rows, &Gain::over_one_shot);
  ASSERT_EQ(summary.size(), 1u);
  EXPECT_EQ(summary[0].count, 4);
  EXPECT_DOUBLE_EQ(summary[0].lower, 0.75);
  EXPECT_DOUBLE_EQ(summary[0].middle, 1.5);
  EXPECT_DOUBLE_EQ(summary[0].upper, 2.25);
}

}  // namespace
}  // namespace flightdeck::study
