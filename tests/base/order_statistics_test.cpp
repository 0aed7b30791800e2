// SPDX-License-Identifier: MIT
#include "base/order_statistics.h"

#include <cmath>

#include <gtest/gtest.h>

namespace flightdeck {
namespace {

TEST(Percentile, LiesBetweenTheNearestValues) {
  EXPECT_DOUBLE_EQ(percentile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 1), 4);
}

TEST(Median, IsTheMiddleOfTheOrder) {
  EXPECT_DOUBLE_EQ(median({5, 1, 9}), 5);
  EXPECT_DOUBLE_EQ(median({1, 2}), 1.5);
  EXPECT_DOUBLE_EQ(median({-7}), -7);
}

TEST(Median, AllowsInfiniteValues) {
  EXPECT_DOUBLE_EQ(median({1, 2, INFINITY}), 2);
  EXPECT_EQ(median({1, INFINITY}), INFINITY);
  EXPECT_EQ(median({INFINITY, INFINITY}), INFINITY);
}

TEST(Median, OfNothingIsNotANumber) { EXPECT_TRUE(std::isnan(median({}))); }

}  // namespace
}  // namespace flightdeck
