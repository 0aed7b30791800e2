// SPDX-License-Identifier: MIT
#include "suite/learning_rate.h"

#include <cmath>

#include <gtest/gtest.h>

#include "errors.h"

namespace flightdeck::suite {
namespace {

// Ten steps per epoch, a hundred steps.
double factor(const std::string& text, int64_t step) {
  return LearningRateSchedule::parse(text).factor({step, 10, 100});
}

TEST(LearningRateSchedule, IsConstantByDefault) {
  EXPECT_EQ(LearningRateSchedule().text(), "constant");
  EXPECT_EQ(LearningRateSchedule().factor({99, 10, 100}), 1.0);
}

TEST(LearningRateSchedule, StepsAtTheStartOfEpochs) {
  const std::string text = "step:3,6:0.1,0.5";
  EXPECT_EQ(factor(text, 0), 1.0);
  EXPECT_EQ(factor(text, 29), 1.0);
  EXPECT_EQ(factor(text, 30), 0.1);
  EXPECT_EQ(factor(text, 59), 0.1);
  EXPECT_EQ(factor(text, 60), 0.5);  // relative to the base, not to the factor before
  EXPECT_EQ(factor(text, 99), 0.5);
}

TEST(LearningRateSchedule, FollowsACosine) {
  for (const int64_t step : {0, 1, 50, 99, 100}) {
    const double expected = 0.5 * (1 + std::cos(M_PI * static_cast<double>(step) / 100));
    EXPECT_NEAR(factor("cosine", step), expected, 1e-15);
    EXPECT_NEAR(factor("cosine:0.2", step), 0.2 + 0.8 * expected, 1e-15);
  }
  EXPECT_NEAR(factor("cosine", 1000), 0.0, 1e-15);  // a run that goes on stays at the end
}

TEST(LearningRateSchedule, RisesAndFallsAsATrapezoid) {
  EXPECT_NEAR(factor("trapezoid", 0), 0.1, 1e-15);
  EXPECT_NEAR(factor("trapezoid", 9), 1.0, 1e-15);
  EXPECT_NEAR(factor("trapezoid", 89), 1.0, 1e-15);
  EXPECT_NEAR(factor("trapezoid", 90), 10.0 / 11.0, 1e-15);
  EXPECT_NEAR(factor("trapezoid", 99), 1.0 / 11.0, 1e-15);
  EXPECT_NEAR(factor("trapezoid:0.5:0", 24), 0.5, 1e-15);
  EXPECT_NEAR(factor("trapezoid:0.5:0", 99), 1.0, 1e-15);
  EXPECT_NEAR(factor("trapezoid:0:0.2", 0), 1.0, 1e-15);
}

TEST(LearningRateSchedule, CyclesInTriangles) {
  EXPECT_NEAR(factor("cyclic:4:0.2", 0), 0.2, 1e-15);
  EXPECT_NEAR(factor("cyclic:4:0.2", 10), 0.6, 1e-15);
  EXPECT_NEAR(factor("cyclic:4:0.2", 20), 1.0, 1e-15);
  EXPECT_NEAR(factor("cyclic:4:0.2", 30), 0.6, 1e-15);
  EXPECT_NEAR(factor("cyclic:4:0.2", 40), 0.2, 1e-15);
}

TEST(LearningRateSchedule, RestartsItsCosine) {
  // Cycles of 10, 20, 40 and 80 epochs, looked at in the middle of epochs too.
  for (const int64_t half : {0, 1, 19, 20, 21, 59, 60, 139, 140, 141, 299}) {
    const double n = static_cast<double>(half) / 2;
    const double begin = n < 10 ? 0 : n < 30 ? 10 : n < 70 ? 30 : 70;
    const double length = n < 10 ? 10 : n < 30 ? 20 : n < 70 ? 40 : 80;
    const double expected = (1 + std::cos(M_PI * (n - begin) / length)) / 2;
    const auto schedule = LearningRateSchedule::parse("cosine_restarts");
    EXPECT_NEAR(schedule.factor({half, 2, 300}), expected, 1e-14) << n;
    const auto staircase = LearningRateSchedule::parse("cosine_restarts@epoch");
    EXPECT_NEAR(
        staircase.factor({half, 2, 300}), schedule.factor({half - half % 2, 2, 300}), 1e-14);
  }
  EXPECT_NEAR(factor("cosine_restarts:3:1", 44), (1 + std::cos(M_PI * 1.4 / 3)) / 2, 1e-14);
  EXPECT_NEAR(factor("cosine_restarts:2", 20), 1.0, 1e-14);
}

TEST(LearningRateSchedule, IsJudgedAfterTheLastFullCycle) {
  const auto restarts = LearningRateSchedule::parse("cosine_restarts@epoch");
  EXPECT_EQ(restarts.reported_epoch(5), 5);
  EXPECT_EQ(restarts.reported_epoch(50), 30);
  EXPECT_EQ(restarts.reported_epoch(70), 70);
  EXPECT_EQ(restarts.reported_epoch(100), 70);
  EXPECT_EQ(restarts.reported_epoch(160), 150);
  EXPECT_EQ(restarts.reported_epoch(200), 150);
  EXPECT_EQ(restarts.reported_epoch(350), 310);
  EXPECT_EQ(LearningRateSchedule::parse("cosine").reported_epoch(50), 50);
}

TEST(LearningRateSchedule, FallsExponentially) {
  EXPECT_EQ(factor("exponential:0.5", 0), 1.0);
  EXPECT_NEAR(factor("exponential:0.5", 10), 0.5, 1e-15);
  EXPECT_NEAR(factor("exponential:0.5", 25), std::exp(-2.5 * std::log(2.0)), 1e-15);
  EXPECT_NEAR(factor("exponential:0.5@epoch", 29), 0.25, 1e-15);
  EXPECT_EQ(factor("exponential:1", 70), 1.0);
}

// The schedules of table 3.2, each against its formula. Ten steps per epoch, a hundred steps.
TEST(LearningRateSchedule, FallsAsAPolynomial) {
  for (const int64_t step : {0, 1, 50, 99, 100}) {
    const double t = static_cast<double>(step) / 100;
    EXPECT_NEAR(factor("polynomial", step), 1 - t, 1e-15);
    EXPECT_NEAR(factor("polynomial:2:0.2", step), 0.2 + 0.8 * (1 - t) * (1 - t), 1e-15);
  }
  EXPECT_EQ(factor("polynomial:0.5", 1000), 0.0);
}

TEST(LearningRateSchedule, FallsAsInverseTime) {
  EXPECT_EQ(factor("inverse_time:0.5", 0), 1.0);
  EXPECT_NEAR(factor("inverse_time:0.5", 20), 1.0 / 2.0, 1e-15);
  EXPECT_NEAR(factor("inverse_time:0.5:0.1", 60), 0.1 + 0.9 / 4.0, 1e-15);
  EXPECT_NEAR(factor("exponential:0.5:0.2", 20), 0.2 + 0.8 * 0.25, 1e-15);
}

TEST(LearningRateSchedule, FallsAsLineTimesCosine) {
  for (const int64_t step : {0, 25, 50, 99, 100}) {
    const double t = static_cast<double>(step) / 100;
    EXPECT_NEAR(
        factor("linear_cosine", step), (1 - t) * (1 + std::cos(M_PI * t)) / 2 + 0.001, 1e-15);
    EXPECT_NEAR(factor("linear_cosine:2:0.1:0.3", step),
                (1.1 - t) * (1 + std::cos(4 * M_PI * t)) / 2 + 0.3,
                1e-14);
  }
}

TEST(LearningRateSchedule, CyclesLowerAndLower) {
  EXPECT_NEAR(factor("cyclic:4:0.2:0.5", 20), 1.0, 1e-15);
  EXPECT_NEAR(factor("cyclic:4:0.2:0.5", 60), 0.2 + 0.8 * 0.5, 1e-15);
  EXPECT_NEAR(factor("cyclic:4:0.2:0.5", 90), 0.2 + 0.8 * 0.25 * 0.5, 1e-15);
  EXPECT_NEAR(factor("cyclic_exponential:0.9:4:0.2", 20), 0.2 + 0.8 * 0.81, 1e-15);
  EXPECT_NEAR(factor("cyclic_exponential:0.9:4:0.2", 50), 0.2 + 0.8 * std::pow(0.9, 5) / 2, 1e-15);
  EXPECT_NEAR(factor("cosine_restarts:2:2:0.5", 20), 0.5, 1e-14);
  EXPECT_NEAR(factor("cosine_restarts:2:2:0.5", 40), 0.25, 1e-14);
  EXPECT_NEAR(factor("cosine_restarts:2:2:0.5", 60), 0.25, 1e-14);
  EXPECT_NEAR(factor("cosine_restarts:2:1:0.5:0.1", 30), 0.1 + 0.9 * 0.5 / 2, 1e-14);
  EXPECT_EQ(LearningRateSchedule::parse("cosine_restarts:2:2:0.5").reported_epoch(10), 6);
}

TEST(LearningRateSchedule, WarmsUp) {
  EXPECT_EQ(factor("constant_warmup:3:0.2", 29), 0.2);
  EXPECT_EQ(factor("constant_warmup:3:0.2", 30), 1.0);
  EXPECT_NEAR(factor("warmup:2", 0), 1.0 / 20, 1e-15);
  EXPECT_NEAR(factor("warmup:2:0.5", 9), 0.75, 1e-15);
  EXPECT_EQ(factor("warmup:2", 19), 1.0);
  EXPECT_EQ(factor("warmup:0", 0), 1.0);
  const std::string stepped = "warmup_step:2:3,6:0.1,0.01";
  EXPECT_NEAR(factor(stepped, 4), 0.25, 1e-15);
  EXPECT_EQ(factor(stepped, 29), 1.0);
  EXPECT_EQ(factor(stepped, 30), 0.1);
  EXPECT_EQ(factor(stepped, 99), 0.01);
}

TEST(LearningRateSchedule, FallsWithTheRootOfTheStepNumber) {
  EXPECT_NEAR(factor("noam:25", 0), 1.0 / 25, 1e-15);
  EXPECT_NEAR(factor("noam:25", 24), 1.0, 1e-15);
  EXPECT_NEAR(factor("noam:25", 99), 0.5, 1e-15);
  // The published form, min(s^-1/2, s W^-3/2), is this one times its peak W^-1/2.
  for (const double s : {1.0, 7.0, 25.0, 60.0}) {
    EXPECT_NEAR(factor("noam:25", static_cast<int64_t>(s) - 1),
                std::min(std::pow(s, -0.5), s * std::pow(25.0, -1.5)) * 5.0,
                1e-15);
  }
}

TEST(LearningRateSchedule, RisesShortAndFallsLong) {
  const double ratio = 32;
  for (const int64_t step : {0, 5, 10, 55, 99}) {
    const double t = static_cast<double>(step);
    const double p = t < 10 ? t / 10 : 1 - (t - 10) / (10 * (1 / 0.1 - 1));
    EXPECT_NEAR(factor("slanted_triangular", step), (1 + p * (ratio - 1)) / ratio, 1e-14) << step;
  }
  EXPECT_NEAR(factor("slanted_triangular:0.5:4", 25), (1 + 0.5 * 3) / 4, 1e-15);
}

TEST(LearningRateSchedule, TakesOneCycleAndEndsBelowIt) {
  EXPECT_NEAR(factor("one_cycle", 0), 0.1, 1e-15);
  EXPECT_NEAR(factor("one_cycle", 45), 1.0, 1e-14);
  EXPECT_NEAR(factor("one_cycle", 90), 0.1, 1e-14);
  EXPECT_NEAR(factor("one_cycle", 95), (0.1 + 0.001) / 2, 1e-14);
  EXPECT_NEAR(factor("one_cycle", 100), 0.001, 1e-14);
  EXPECT_NEAR(factor("one_cycle:0.2:0", 50), 1.0, 1e-14);
  EXPECT_NEAR(factor("one_cycle:0.2:0", 100), 0.2, 1e-14);
}

// As in the comparison of optimizers, whose lists come one epoch late for the trapezoid.
TEST(LearningRateSchedule, IsConstantWithinEpochsIfAsked) {
  const int64_t epochs = 100, width = 10, steps = 7;
  const auto cosine = LearningRateSchedule::parse("cosine@epoch");
  const auto trapezoid = LearningRateSchedule::parse("trapezoid@epoch");
  for (int64_t n = 0; n < epochs; ++n) {
    const double up = static_cast<double>(n + 1) / width;
    const double down = 1 - static_cast<double>(n + 1 - (epochs - width)) / (width + 1);
    for (const int64_t step : {n * steps, n * steps + steps - 1}) {
      const Progress progress{step, steps, epochs * steps};
      EXPECT_NEAR(cosine.factor(progress), (1 + std::cos(M_PI * double(n) / 100)) / 2, 1e-14);
      EXPECT_NEAR(trapezoid.factor(progress), std::min({up, 1.0, down}), 1e-14) << n;
    }
  }
  EXPECT_EQ(cosine.text(), "cosine@epoch");
}

TEST(LearningRateSchedule, RefusesOtherTexts) {
  for (const char* text : {"",
                           "linear",
                           "step",
                           "step:3",
                           "step:3,6:0.1",
                           "step:6,3:0.1,0.2",
                           "step:3:-1",
                           "step:a:0.1",
                           "step:3:",
                           "step:3,,4:0.1,0.2,0.3",
                           "cosine:2",
                           "cosine:0.1:0.2",
                           "constant:1",
                           "trapezoid:0.6:0.6",
                           "exponential",
                           "exponential:1.5",
                           "cosine_restarts:0",
                           "cosine_restarts:10:0.5",
                           "cosine@step",
                           "@epoch",
                           "cyclic:0",
                           "cyclic:1:0:2",
                           "cyclic_exponential",
                           "inverse_time",
                           "inverse_time:-1",
                           "noam:0",
                           "one_cycle:0.1:0.1:0.2",
                           "warmup_step:5",
                           "warmup_step:5:3:0.1,0.2"}) {
    const std::string message = tests::error_of([&] { LearningRateSchedule::parse(text); });
    tests::expect_mentions(message, {std::string("'") + text + "'", "trapezoid[:UP[:DOWN]]"});
  }
}

}  // namespace
}  // namespace flightdeck::suite
