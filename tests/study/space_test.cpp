// SPDX-License-Identifier: MIT
#include "study/space.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "study/requests.h"

namespace flightdeck::study {
namespace {

using Kind = Search::Kind;

std::vector<double> many(const Dimension& dimension, int64_t count = 4000) {
  std::vector<double> values;
  for (const Values& sample : draws({dimension}, count, 42, "test")) {
    values.push_back(sample.at(dimension.name));
  }
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Draws, AreTheSameOnEveryMachine) {
  const std::vector<Values> samples =
      draws(small_request({}).optimizers[0].space, 2, 42, "momentum");
  EXPECT_EQ(samples[0].at("learning_rate"), 0.000958311);
  EXPECT_EQ(samples[0].at("momentum"), 0.398169);
  EXPECT_EQ(samples[1].at("learning_rate"), 0.000145278);
  EXPECT_EQ(samples[1].at("momentum"), 0.99472719);
  EXPECT_EQ(samples[0].at("weight_decay"), 0.5);
}

TEST(Draws, BeginAlikeWhateverTheirNumber) {
  const Space space = small_request({}).optimizers[0].space;
  const std::vector<Values> few = draws(space, 25, 42, "a"), more = draws(space, 50, 42, "a");
  EXPECT_TRUE(std::equal(few.begin(), few.end(), more.begin()));
  EXPECT_NE(few, draws(space, 25, 43, "a"));
  EXPECT_NE(few, draws(space, 25, 42, "b"));
}

TEST(Draws, OfALogUniformDimensionHaveItsQuantiles) {
  const std::vector<double> values = many({"x", {Kind::kLogUniform, 1e-4, 1, false, {}}, 0});
  EXPECT_GE(values.front(), 1e-4);
  EXPECT_LE(values.back(), 1);
  // The standard error of a quantile is at most 4 * sqrt(0.25 / 4000) = 0.03 decades.
  EXPECT_NEAR(std::log10(values[1000]), -3, 0.12);
  EXPECT_NEAR(std::log10(values[2000]), -2, 0.12);
  EXPECT_NEAR(std::log10(values[3000]), -1, 0.12);
}

TEST(Draws, OfAComplementAreLogUniformInOneMinusTheValue) {
  const std::vector<double> values = many({"x", {Kind::kLogUniform, 1e-4, 1, true, {}}, 0});
  EXPECT_GE(values.front(), 0);
  EXPECT_LE(values.back(), 1 - 1e-4);
  EXPECT_NEAR(std::log10(1 - values[2000]), -2, 0.12);
}

TEST(Draws, OfWholeNumbersReachBothEndsEquallyOften) {
  const std::vector<double> values = many({"x", {Kind::kWholeUniform, 5, 10, false, {}}, 0});
  for (int whole = 5; whole <= 10; ++whole) {
    // Five standard errors of a count of 4000 / 6.
    EXPECT_NEAR(static_cast<double>(std::count(values.begin(), values.end(), whole)), 667, 118);
  }
}

TEST(Draws, OfChoicesAreChoices) {
  const std::vector<double> values = many({"x", {Kind::kOneOf, 0, 0, false, {0.5, 2, 3}}, 0});
  EXPECT_NEAR(static_cast<double>(std::count(values.begin(), values.end(), 0.5)), 1333, 150);
  EXPECT_NEAR(static_cast<double>(std::count(values.begin(), values.end(), 3)), 1333, 150);
}

TEST(Refined, IsTheSmallestBoxAroundTheBest) {
  Space space = small_request({}).optimizers[0].space;
  space.push_back({"steps", {Kind::kWholeUniform, 1, 20, false, {}}, 5});
  space.push_back({"beta", {Kind::kOneOf, 0, 0, false, {0.1, 0.2, 0.3, 0.4}}, 0.1});
  const auto values = [](double rate, double momentum, double steps, double beta) {
    return Values{{"learning_rate", rate},
                  {"momentum", momentum},
                  {"weight_decay", 0.5},
                  {"steps", steps},
                  {"beta", beta}};
  };
  const Space box = refined(space, {values(0.01, 0.9, 7, 0.2), values(0.05, 0.99, 4, 0.3)});
  EXPECT_EQ(box[0].search.low, 0.01);
  EXPECT_EQ(box[0].search.high, 0.05);
  EXPECT_EQ(box[1].search.low, 0.01);
  EXPECT_EQ(box[1].search.high, 0.1);
  EXPECT_TRUE(box[1].search.is_complement);
  EXPECT_EQ(box[2].search.kind, Kind::kFixed);
  EXPECT_EQ(box[3].search.low, 4);
  EXPECT_EQ(box[3].search.high, 7);
  EXPECT_EQ(box[4].search.choices, (std::vector<double>{0.2, 0.3}));
  for (const Values& sample : draws(box, 200, 42, "box")) {
    EXPECT_GE(sample.at("momentum"), 0.9);
    EXPECT_LE(sample.at("momentum"), 0.99);
    EXPECT_EQ(sample.at("weight_decay"), 0.5);
  }
}

TEST(Refined, OfOneValueGivesThisValue) {
  const Space space = {{"x", {Kind::kLogUniform, 1e-4, 1, false, {}}, 0}};
  const Space box = refined(space, {{{"x", 0.02}}, {{"x", 0.02}}});
  EXPECT_EQ(draws(box, 1, 42, "")[0].at("x"), 0.02);
}

}  // namespace
}  // namespace flightdeck::study
