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
                           "cyclic:0"}) {
    const std::string message = tests::error_of([&] { LearningRateSchedule::parse(text); });
    tests::expect_mentions(message, {std::string("'") + text + "'", "trapezoid[:UP[:DOWN]]"});
  }
}

}  // namespace
}  // namespace flightdeck::suite
