// SPDX-License-Identifier: MIT
#include "study/analysis/profile.h"

#include <cmath>

#include <gtest/gtest.h>

#include "study/analysis/analysis.h"
#include "tests/study/made_up.h"

namespace flightdeck::study {
namespace {

Result timed(const std::string& problem, const std::string& competitor, double iterations) {
  Result result;
  result.choice.problem = problem;
  result.choice.competitor = competitor;
  result.median_iterations = iterations;
  return result;
}

std::vector<Profile> profiles_of(const std::vector<Result>& results) {
  std::vector<const Result*> pointers;
  for (const Result& result : results) pointers.push_back(&result);
  return profiles(pointers);
}

TEST(Profile, CountsProblemsWithinAFactorOfTheFastest) {
  const std::vector<Profile> all = profiles_of({timed("a", "adam", 100),
                                                timed("a", "sgd", 200),
                                                timed("b", "adam", 300),
                                                timed("b", "sgd", 100),
                                                timed("c", "adam", 50),
                                                timed("c", "sgd", INFINITY)});
  ASSERT_EQ(all.size(), 2u);
  const Profile& adam = all[0];
  EXPECT_EQ(adam.competitor, "adam");
  EXPECT_DOUBLE_EQ(adam.share_within(1), 2 / 3.0);
  EXPECT_DOUBLE_EQ(adam.share_within(2.99), 2 / 3.0);
  EXPECT_DOUBLE_EQ(adam.share_within(3), 1);
  // Two problems at factor 1 fill the whole width, one at 3 a third of it.
  EXPECT_DOUBLE_EQ(adam.score, (1 + 1 + 1 / 3.0) / 3);
  EXPECT_DOUBLE_EQ(all[1].score, (2 / 3.0 + 1 + 0) / 3);
  EXPECT_EQ(all[1].reached, 2);
}

TEST(Profile, CountsProblemsThatWereNotRunAsNotReached) {
  const std::vector<Profile> all =
      profiles_of({timed("a", "adam", 100), timed("b", "adam", 100), timed("a", "sgd", 100)});
  EXPECT_DOUBLE_EQ(all[0].score, 1);
  EXPECT_DOUBLE_EQ(all[1].score, 0.5);
}

TEST(Profile, HasNoScoreWhereNobodyReachesTheTarget) {
  const std::vector<Profile> all =
      profiles_of({timed("a", "adam", INFINITY), timed("a", "sgd", INFINITY)});
  EXPECT_DOUBLE_EQ(all[0].score, 0);
  EXPECT_DOUBLE_EQ(all[1].share_within(4), 0);
}

TEST(Profile, OfAStartAtTheTargetIsFinite) {
  const std::vector<Profile> all = profiles_of({timed("a", "adam", 0), timed("a", "sgd", 0)});
  EXPECT_DOUBLE_EQ(all[0].score, 1);
  EXPECT_DOUBLE_EQ(all[1].score, 1);
}

TEST(Profile, ScoreIsTheAreaUnderTheCurve) {
  MadeUp request;
  request.epochs = 40;
  request.samples = 6;
  request.seeds = 3;
  request.schedules = {"constant"};
  const Analysis analysis = analyze(made_up_study(request), {}, made_up_benchmark());
  ASSERT_EQ(analysis.profiles.size(), 15u);
  const int steps = 30000;
  for (const Profile& profile : analysis.profiles) {
    double area = 0;
    for (int k = 0; k < steps; ++k) {
      area += profile.share_within(1 + (k + 0.5) * 3.0 / steps) / steps;
    }
    EXPECT_NEAR(profile.score, area, 1e-3) << profile.competitor;
  }
}

}  // namespace
}  // namespace flightdeck::study
