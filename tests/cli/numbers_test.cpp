// SPDX-License-Identifier: MIT
#include "cli/text/numbers.h"

#include <cmath>

#include <gtest/gtest.h>

namespace flightdeck::cli {
namespace {

TEST(Numbers, AreShort) {
  EXPECT_EQ(short_number(-std::nan("")), "nan");
  EXPECT_EQ(short_number(0.693147), "0.6931");
  EXPECT_EQ(short_number(std::nan("")), "nan");
  EXPECT_EQ(percent(0.5129), "51.3 %");
  EXPECT_EQ(bytes(1.5e9), "1.5 GB");
  EXPECT_EQ(counted(1, "step"), "1 step");
  EXPECT_EQ(counted(0, "step"), "0 steps");
}

TEST(Durations, ChooseTheirUnits) {
  EXPECT_EQ(duration(0.44), "0.4 s");
  EXPECT_EQ(duration(59.6), "1 min 00 s");
  EXPECT_EQ(duration(185), "3 min 05 s");
  EXPECT_EQ(duration(8040), "2 h 14 min");
  EXPECT_EQ(duration(std::nan("")), "?");
  EXPECT_EQ(duration(1e300), "?");
}

}  // namespace
}  // namespace flightdeck::cli
